/** Whatever rules about paths hide in a database or another server, no operation shows it, also right after the rules changed. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { missingFor, type PostgresServer, startPostgres } from "../../test/live/postgres.ts";
import { gather } from "../context/gather.ts";
import type { Call, Caller, Resources } from "../resources.ts";
import { openServer, type Server } from "./open-server.ts";
import { type HttpServer, startHttp } from "./start-http.ts";

/** Tables and files, each with a word that occurs nowhere else. */
const tables = ["public.zebra_orders", "public.yak_stock", "wages.walrus_pay", "wages.viper_bonus"];
const files = ["tapir-plan.md", "serval/rhea-note.md", "serval/quokka-list.md"];
const words = ["zebra", "yak", "walrus", "viper", "tapir", "rhea", "quokka"];
const tablePath = (table: string) => table.replace(".", "/");

interface Rule {
  /** How the rule names what it hides. */
  readonly form: "path" | "above" | "glob" | "mount" | "allow-list";
  /** Index of a word. */
  readonly target: number;
}

const plan = fc.array(
  fc.record({
    form: fc.constantFrom<Rule["form"]>("path", "path", "above", "glob", "mount", "allow-list"),
    target: fc.nat(words.length - 1),
  }),
  { minLength: 1, maxLength: 4 },
);

const flavour = "npm";
let root: string;
let postgres: PostgresServer;
let upstream: HttpServer;
let server: Server;

const env = () => ({ HOME: root, XDG_STATE_HOME: join(root, "state"), XDG_CACHE_HOME: join(root, "cache") });
const config = () => join(root, "team", "pressmark.yaml");

function configure(rules: readonly object[]): void {
  const documents = tables.map((table, at) => ({ table, title: `${words[at]}_column`, text: [`${words[at]}_column`] }));
  const mounts = {
    shop: { source: "postgres", url: postgres.url("postgres"), rows: true, documents },
    far: { source: "mcp", url: upstream.url },
  };
  writeFileSync(config(), JSON.stringify({ mounts, callers: { aki: {} }, rules }));
}

/** The rules, and the words that they hide. */
function rulesOf(chosen: readonly Rule[], farPaths: ReadonlyMap<string, string>) {
  const hidden = new Set<string>();
  const rules: object[] = [{ allow: ["anyone"] }];
  for (const { form, target } of chosen) {
    const isTable = target < tables.length;
    const mount = isTable ? "shop" : "far";
    const path = isTable ? tablePath(tables[target]!) : farPaths.get(words[target]!)!;
    const deny = (paths: readonly string[], of: readonly number[]) => {
      rules.push({ deny: ["caller:aki"], mounts: [mount], paths });
      for (const each of of) hidden.add(words[each]!);
    };
    const same = words.flatMap((_, at) => (at < tables.length === isTable ? [at] : []));
    if (form === "path") deny([path], [target]);
    else if (form === "glob") deny([`**/*${words[target]}*`], [target]);
    else if (form === "above" && isTable) {
      const schema = path.split("/")[0]!;
      deny(
        [schema],
        same.filter((at) => tables[at]!.startsWith(`${schema}.`)),
      );
    } else if (form === "allow-list") {
      rules[0] = { allow: ["anyone"], mounts: ["shop"], paths: [tablePath(tables[0]!)] };
      for (const word of words.slice(1)) hidden.add(word);
    } else {
      rules.push({ deny: ["caller:aki"], mounts: [mount] });
      for (const each of same) hidden.add(words[each]!);
    }
  }
  return { rules, hidden };
}

describe.skipIf(missingFor(flavour))(`rules about paths (${missingFor(flavour) ?? "PostgreSQL runs"})`, () => {
  beforeAll(async () => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-paths-")));
    mkdirSync(join(root, "team"));
    mkdirSync(join(root, "far", "serval"), { recursive: true });
    for (const [index, file] of files.entries())
      writeFileSync(join(root, "far", file), `kettle ${words[tables.length + index]}body\n`);
    postgres = await startPostgres(flavour);
    const ddl = tables.map(
      (table, index) =>
        `CREATE TABLE ${table} (id int PRIMARY KEY, ${words[index]}_column text); INSERT INTO ${table} VALUES (1, '${words[index]}body kettle');`,
    );
    await postgres.run("postgres", `CREATE SCHEMA wages; ${ddl.join("\n")}`);
    upstream = await startHttp({
      folders: [join(root, "far")],
      from: root,
      env: env(),
      err: { write: () => true },
      allowedHosts: [],
      version: "1",
      port: 0,
    });
    configure([{ allow: ["anyone"] }]);
    server = await openServer({
      folders: [],
      config: config(),
      from: root,
      live: true,
      env: env(),
      err: { write: () => true },
    });
  }, 60_000);

  afterAll(async () => {
    await server?.close();
    await upstream?.close();
    await postgres?.close();
    rmSync(root, { recursive: true, force: true });
  });

  it("hide it from every operation at once", { timeout: 180_000 }, async () => {
    const owner = callOf({ id: "me", owner: true });
    await server.index.caughtUp({ signal: AbortSignal.timeout(60_000) });
    const { hits } = await server.resources.search({ text: "kettle", limit: 50 }, owner);
    const rows = hits.map(({ resource }) => resource.uri).filter((uri) => uri.includes("/rows/"));
    expect(rows).toHaveLength(tables.length);
    const uris = new Set([...(await everyEntry(server.resources, owner)).map(({ uri }) => uri), ...rows]);
    const all = await everythingFor(server.resources, owner, uris);
    for (const word of words) expect(all).toContain(word);
    const far = server.mounts.find(({ name }) => name === "far")!;
    const farPaths = new Map<string, string>();
    for (const { path } of (await far.source.list({ limit: 100 }, owner)).items)
      for (const word of words) if (path.includes(word)) farPaths.set(word, path);

    await fc.assert(
      fc.asyncProperty(plan, async (chosen) => {
        const { rules, hidden } = rulesOf(chosen, farPaths);
        configure(rules);
        await vi.waitFor(() => expect(server.access?.rules.length).toBe(rules.length), {
          timeout: 20_000,
          interval: 20,
        });
        await vi.waitFor(() => expect(JSON.stringify(server.access?.rules)).toBe(JSON.stringify(rules)), {
          timeout: 20_000,
          interval: 20,
        });
        const shown = await everythingFor(server.resources, callOf({ id: "aki" }), uris);
        for (const word of words)
          if (hidden.has(word)) expect(shown, `${word} is hidden by ${JSON.stringify(rules)}`).not.toContain(word);
          else expect(shown, `${word} is not hidden by ${JSON.stringify(rules)}`).toContain(word);
      }),
      { numRuns: 12, endOnFailure: true },
    );
  });
});

function callOf(caller: Caller): Call {
  return { caller, signal: new AbortController().signal };
}

async function everyEntry(resources: Resources, call: Call) {
  const items: { readonly uri: string }[] = [];
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page = await resources.list({ cursor, limit: 2 }, call);
    items.push(...page.items);
    cursor = page.next;
  }
  return items;
}

/** All that a caller gets from every operation, as one text; errors are left out, because they repeat the URI. */
async function everythingFor(resources: Resources, call: Call, uris: ReadonlySet<string>): Promise<string> {
  const shown: unknown[] = [await everyEntry(resources, call)];
  const take = async (work: Promise<unknown>) => shown.push(await work.catch(() => undefined));
  for (const uri of uris) {
    await take(resources.read(uri, call));
    await take(resources.stat(uri, call));
    for (let above = uri; above.length > 12; above = above.slice(0, Math.max(0, above.lastIndexOf("/"))))
      await take(resources.children(above, {}, call));
  }
  for (const text of ["kettle", ...words.map((word) => `${word}body`), ...words.map((word) => word.slice(0, 3))]) {
    const found = await resources.search({ text, limit: 50 }, call).catch(() => undefined);
    shown.push(found?.hits, found?.failures);
  }
  const pack = await gather(resources, { task: "kettle", budget: 4000 }, call).catch(() => undefined);
  shown.push(pack?.items);
  const templates = await resources.templates({}, call).catch(() => undefined);
  shown.push(templates);
  for (const { uriTemplate } of templates?.items ?? [])
    for (const variable of ["schema", "table", "path", "name", "key"])
      for (const value of ["", "w", "z"])
        for (const table of ["", "walrus_pay"]) {
          const given = { schema: "wages", ...(table && { table }) };
          await take(resources.complete({ template: uriTemplate, variable, value, given }, call));
        }
  return JSON.stringify(shown);
}
