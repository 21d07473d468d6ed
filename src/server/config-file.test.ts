import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { grantPermissions, permissionsAsked } from "../config/grant-permissions.ts";
import { createTrustStore } from "../config/trust.ts";
import type { Call } from "../resources.ts";
import { wait } from "../lib/wait.ts";
import { collectChanges } from "../testing/listen.ts";
import { openConfigFile } from "./config-file.ts";
import { createRuntime } from "./runtime.ts";
import { chooseConfig, type Server, type OpenServerOptions, openServer } from "./open-server.ts";

let root: string;
let folder: string;
let pressmark: Server | undefined;
let said: string;
let heardSaid: (() => void)[];
let stop: AbortController;
let call: Call;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-configured-")));
  folder = join(root, "project");
  for (const name of ["docs", "notes", "../outside"]) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, "docs/a.md"), "A");
  writeFileSync(join(folder, "docs/b.md"), "B");
  writeFileSync(join(folder, "notes/n.md"), "N");
  writeFileSync(join(root, "outside/o.md"), "O");
  said = "";
  heardSaid = [];
  stop = new AbortController();
  call = { caller: { id: "test" }, signal: stop.signal };
});

afterEach(async () => {
  stop.abort();
  await pressmark?.close();
  pressmark = undefined;
  rmSync(root, { recursive: true, force: true });
});

const both = "mounts:\n  docs: { source: file, root: docs }\n  notes: { source: file, root: notes }\n";
const docsOnly = "mounts:\n  docs: { source: file, root: docs }\n";

function write(text: string, name = "pressmark.config.yaml"): void {
  const draft = join(folder, `.${name}.draft`);
  writeFileSync(draft, text);
  renameSync(draft, join(folder, name));
}

function options(more: Partial<OpenServerOptions> = {}): OpenServerOptions {
  const err = {
    write(line: string) {
      said += line;
      for (const heard of heardSaid.splice(0)) heard();
      return true;
    },
  };
  const env = { XDG_STATE_HOME: join(root, "state"), HOME: root, PRESSMARK_LOG: "info", SECRET: "hunter2hunter2" };
  return { folders: [], from: folder, env, err: err as OpenServerOptions["err"], live: true, ...more };
}

async function open(text: string, more: Partial<OpenServerOptions> = {}): Promise<Server> {
  write(text);
  pressmark = await openServer(options(more));
  return pressmark;
}

/** Resolves once the log contains this. */
async function untilSaid(text: string): Promise<void> {
  while (!said.includes(text)) await new Promise<void>((resolve) => heardSaid.push(resolve));
}

async function listed({ resources }: Server): Promise<string[]> {
  const uris: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await resources.list(cursor === undefined ? {} : { cursor }, call);
    uris.push(...page.items.map(({ uri }) => uri));
    cursor = page.next;
  } while (cursor !== undefined);
  return uris;
}

function program(mount: string): string {
  return `export default { mounts: { ${mount}: { source: "file", root: "${mount}" } } };`;
}

function hidden(where: string): string {
  return `${docsOnly}  h: { source: file, root: ${where}, hidden: true, scheme: h }\n`;
}

function shared(mounts: string): string {
  return `${mounts}server: { host: 0.0.0.0 }\n`;
}

/** Grants what the trust prompt shows. */
async function trust(name = "pressmark.config.yaml"): Promise<void> {
  const { from, env } = options();
  const world = { from, env, stateFolder: join(root, "state/pressmark") };
  await grantPermissions(join(folder, name), await permissionsAsked(join(folder, name), world), world);
}

/** A package with a source whose list is its own version. */
function installSky(version: string): void {
  const at = join(folder, "node_modules/pressmark-source-sky");
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, "package.json"), JSON.stringify({ version, type: "module", exports: "./index.js" }));
  writeFileSync(
    join(at, "index.js"),
    `export default { name: "sky", summary: "x", scheme: "sky", options: (z) => z.object({}),
       open: async () => ({ list: async () => ({ items: [{ path: "${version}" }] }), read: async () => [] }) };`,
  );
}

const uri = (path: string): string => pathToFileURL(join(folder, path)).href;

describe("a server with a config", () => {
  it("serves the mounts of the config under their URIs", async () => {
    const opened = await open(
      `${docsOnly}  notes: { source: file, root: notes, scheme: notes }\n  m: { source: memory, resources: { x: X } }\n`,
    );
    expect(await listed(opened)).toEqual([uri("docs/a.md"), uri("docs/b.md"), "memory://m/x", "notes://notes/n.md"]);
    expect(opened.mounts.map(({ name, base, folder: at }) => [name, base, at])).toEqual([
      ["docs", `${uri("docs")}/`, join(folder, "docs")],
      ["notes", "notes://notes/", join(folder, "notes")],
      ["m", "memory://m/", undefined],
    ]);
    expect(await opened.locate("n.md", call)).toBe("notes://notes/n.md");
    expect(await opened.locate(join(folder, "docs/a.md"), call)).toBe(uri("docs/a.md"));
    await expect(opened.locate("elsewhere", call)).rejects.toMatchObject({ kind: "not-found" });
  });

  it("respects its limits and freshness", async () => {
    const opened = await open(
      "mounts: { docs: { source: file, root: docs, maxBytes: 1, freshness: { ttlMs: 1234, scope: public } } }\nserver: { pageSize: 1, port: 9 }",
    );
    expect((await opened.resources.list({}, call)).items).toHaveLength(1);
    expect(opened.settings).toEqual({ pageSize: 1, port: 9 });
    expect(await opened.resources.read(uri("docs/a.md"), call)).toMatchObject({ ttlMs: 1234, scope: "public" });
    writeFileSync(join(folder, "docs/a.md"), "too long");
    await expect(opened.resources.read(uri("docs/a.md"), call)).rejects.toMatchObject({ kind: "too-large" });
  });

  it.each(["docs", "."])("leaves out the later of two mounts that share URIs: %s", async (second) => {
    const opened = await open(`mounts: { a: { source: file, root: docs }, b: { source: file, root: ${second} } }`);
    expect(opened.mounts.map(({ name }) => name)).toEqual(["a"]);
    expect(said).toMatch(
      /the mount "b" is left out: .*1:47 mounts\.b: the mounts "a" .* and "b" .* share URIs; change the base or scheme/,
    );
  });

  it.each([
    [
      "mounts: { a: { source: file, root: docx } }",
      /^pressmark\.config\.yaml:1:14 mounts\.a: folder ".*docx" does not exist; create it, or set "root" to another folder$/,
    ],
    [
      "mounts: { a: { source: memory, resources: { '/': x } } }",
      /^pressmark\.config\.yaml:1:14 mounts\.a: "\/" is not a valid path/,
    ],
  ])("that cannot be opened, %j, points at what is wrong", async (text, message) => {
    await expect(open(text)).rejects.toMatchObject({ kind: "invalid", message: expect.stringMatching(message) });
  });

  it("is found upwards, named, or in the one folder that is named; several folders are served as they are", async () => {
    write(docsOnly);
    const from = join(folder, "notes");
    const choose = (more: Partial<OpenServerOptions>) => chooseConfig(options({ from, ...more }));
    const file = join(folder, "pressmark.config.yaml");
    expect(choose({})).toEqual({ file, named: false });
    expect(choose({ folders: [".."] })).toEqual({ file, named: false });
    expect(choose({ folders: ["."] })).toBeUndefined();
    expect(choose({ folders: ["..", "../docs"] })).toBeUndefined();
    expect(choose({ config: "../pressmark.config.yaml" })).toEqual({ file, named: true });
    expect(() => choose({ config: "x", folders: ["."] })).toThrow("name folders or a config, not both");
  });

  it("logs what it leaves out of an untrusted config, and serves the rest", async () => {
    const opened = await open(`${docsOnly}  out: { source: file, root: ../outside }\n`);
    expect(opened.mounts.map(({ name }) => name)).toEqual(["docs"]);
    expect(said).toContain(
      "outside its own folder, for mounts.out.root, which is left out until it is trusted; run: pressmark trust",
    );
  });

  it("refuses a config of which nothing is left", async () => {
    await expect(open("mounts: { out: { source: file, root: ../outside } }")).rejects.toMatchObject({
      kind: "denied",
      message:
        "nothing in pressmark.config.yaml may be served before it is trusted; review it, then run: pressmark trust",
    });
  });

  it("skips a config in TypeScript that is not trusted, names the command to run, and serves the folder", async () => {
    write('export default { mounts: { docs: { source: "file", root: "docs" } } };', "pressmark.config.ts");
    pressmark = await openServer(options());
    expect(pressmark.mounts.map(({ name }) => name)).toEqual(["project"]);
    expect(said).toContain(
      "pressmark warn: pressmark.config.ts runs pressmark.config.ts as a program, as it is now, so it is not used until it is trusted; review it, then run: pressmark trust",
    );
  });
});

describe("a config that changes", () => {
  it("takes effect immediately, and everyone who watches the list is notified", async () => {
    const opened = await open(docsOnly);
    const heard = collectChanges(await opened.resources.watch({ list: true }, call));
    write(both);
    await heard.until(({ kind }) => kind === "list-changed", "that the list changed");
    expect(await listed(opened)).toEqual([uri("docs/a.md"), uri("docs/b.md"), uri("notes/n.md")]);
    expect(opened.mounts.map(({ name }) => name)).toEqual(["docs", "notes"]);
  });

  it("leaves watched what is still there, and keeps its source open", async () => {
    const opened = await open(both);
    const before = opened.mounts.map(({ source }) => source);
    const heard = collectChanges(
      await opened.resources.watch({ list: true, uris: [uri("docs/a.md"), uri("notes/n.md")] }, call),
    );
    write("mounts:\n  docs: { source: file, root: docs }\n  notes: { source: file, root: notes, maxBytes: 100 }\n");
    await heard.until(
      (change) => change.kind === "updated" && change.uri === uri("notes/n.md"),
      "that the note is another's",
    );
    expect(heard.heard).not.toContainEqual({ kind: "updated", uri: uri("docs/a.md") });
    const after = opened.mounts.map(({ source }) => source);
    expect(after[0]).toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
    writeFileSync(join(folder, "docs/a.md"), "A changed");
    await heard.until((change) => change.kind === "updated" && change.uri === uri("docs/a.md"), "that a.md changed");
  });

  it("and is broken leaves the server unchanged, and logs the problems", async () => {
    const opened = await open(docsOnly);
    write("server: { prot: 1 }\nmounts: { docs: { source: file, root: notes } }\n");
    await untilSaid("the previous config stays in effect");
    expect(said).toContain(
      'pressmark error: pressmark.config.yaml:1:11 server.prot: unknown option; did you mean "port"?\n',
    );
    expect(await listed(opened)).toHaveLength(2);

    write("mounts: { docs: { source: file, root: docs }, gone: { source: file, root: nowhere } }\n");
    await untilSaid('nowhere\\" does not exist'.replaceAll("\\", ""));
    expect(await listed(opened)).toHaveLength(2);

    const heard = collectChanges(await opened.resources.watch({ list: true }, call));
    write(both);
    await heard.until(({ kind }) => kind === "list-changed", "that the list changed");
    expect(await listed(opened)).toHaveLength(3);
  });

  it("in nothing that is served disturbs nobody", async () => {
    const opened = await open(docsOnly);
    const source = opened.mounts[0]!.source;
    const heard = collectChanges(await opened.resources.watch({ list: true }, call));
    write(`# a comment\n${docsOnly}server: { port: 9999 }\n`);
    await untilSaid("server.port has changed, which takes effect after a restart");
    expect(opened.mounts[0]!.source).toBe(source);
    write(both);
    await heard.until(({ kind }) => kind === "list-changed", "that the list changed");
    expect(heard.heard).toHaveLength(1);
  });

  it("gets nothing by it that it was not trusted with", async () => {
    const opened = await open(docsOnly);
    write(`${both}  out: { source: file, root: ../outside }\n`);
    await untilSaid("outside its own folder, for mounts.out.root, which is left out");
    await untilSaid("the config changed and is in effect");
    expect(opened.mounts.map(({ name }) => name)).toEqual(["docs", "notes"]);
  });

  it("in TypeScript waits for trust again", async () => {
    write(program("docs"), "pressmark.config.ts");
    await trust("pressmark.config.ts");
    pressmark = await openServer(options());
    expect(pressmark.mounts.map(({ name }) => name)).toEqual(["docs"]);
    write(program("notes"), "pressmark.config.ts");
    await untilSaid("The previous config stays in effect.");
    expect(pressmark.mounts.map(({ name }) => name)).toEqual(["docs"]);
  });

  it("makes cursors of before either fit or be refused", async () => {
    const opened = await open(`${both}server: { pageSize: 1 }\n`);
    const { next } = await opened.resources.list({}, call);
    expect((await opened.resources.list({ cursor: next! }, call)).items[0]).toMatchObject({ uri: uri("docs/b.md") });
    const heard = collectChanges(await opened.resources.watch({ list: true }, call));
    write(`mounts:\n  docs: { source: memory, resources: { x: X } }\nserver: { pageSize: 1 }\n`);
    await heard.until(({ kind }) => kind === "list-changed", "that the list changed");
    await expect(opened.resources.list({ cursor: next! }, call)).rejects.toMatchObject({ kind: "invalid" });
  });

  it("between its reading and the first look at it takes effect", async () => {
    write(both);
    const origin = { file: join(folder, "pressmark.config.yaml"), named: true };
    const context = { from: folder, env: {}, stateFolder: join(root, "state") };
    const file = await openConfigFile(origin, context, createRuntime({ write: () => true }));
    write(docsOnly);
    const applied = new Promise<readonly string[]>((resolve) => {
      void file!.follow(async ({ mounts }) => {
        resolve(mounts.map(({ name }) => name));
        return "changed";
      }, stop.signal);
    });
    expect(await applied).toEqual(["docs"]);
  });

  it("is not followed where that is not wanted, nor after the server is closed", async () => {
    const opened = await open(docsOnly, { live: false });
    write(both);
    await opened.close();
    pressmark = undefined;
    expect(opened.mounts).toHaveLength(1);
  });

  it("never brings into the log what a reference stood for", async () => {
    const opened = await open(docsOnly, { config: "pressmark.config.yaml" });
    write("mounts: { docs: { source: file, root: '${env:SECRET}' } }\n");
    await untilSaid('the mount "docs" stays as it was');
    expect(said).toMatch(/1:17 mounts\.docs: folder ".*••••" does not exist/);
    expect(said).not.toContain("hunter2");
    expect(await listed(opened)).toHaveLength(2);
  });
});

describe("a config that is found and changes after it was trusted", () => {
  it("loses the part that changed until that is trusted, which takes effect while running", async () => {
    write(hidden("notes"));
    await trust();
    const opened = await open(hidden("notes"));
    expect(await listed(opened)).toContain("h://h/n.md");
    write(hidden("../outside"));
    await untilSaid("mounts.h changed since it was trusted: root");
    await untilSaid("the config changed and is in effect");
    expect(await listed(opened)).toEqual([uri("docs/a.md"), uri("docs/b.md")]);
    said = "";
    await trust();
    await untilSaid("the config changed and is in effect");
    expect(await listed(opened)).toContain("h://h/o.md");
    said = "";
    createTrustStore(join(root, "state/pressmark")).forget(join(folder, "pressmark.config.yaml"));
    await untilSaid("the config changed and is in effect");
    expect(await listed(opened)).toEqual([uri("docs/a.md"), uri("docs/b.md")]);
  });

  it("gets a source of a package while running, and an upgrade of it after a restart", async () => {
    const opened = await open(docsOnly);
    const served = async () => (await listed(opened)).filter((each) => each.startsWith("sky:"));
    installSky("1.0.0");
    write(`${docsOnly}  sky: { source: pressmark-source-sky }\n`);
    await untilSaid("runs the package pressmark-source-sky, version 1.0.0");
    expect(await served()).toEqual([]);
    await trust();
    await untilSaid("the config changed and is in effect");
    expect(await served()).toEqual(["sky://sky/1.0.0"]);

    installSky("1.1.0");
    write(`${docsOnly}  sky: { source: pressmark-source-sky } # upgraded\n`);
    await untilSaid("the version of pressmark-source-sky (was 1.0.0, is 1.1.0)");
    expect(await served()).toEqual([]);
    await trust();
    await untilSaid("has changed since this process loaded it; restart Pressmark");
    expect(await served()).toEqual([]);
  });

  it("shows others, who were let in, no more than when they were let in", async () => {
    write(shared(docsOnly));
    await trust();
    const opened = await open(shared(docsOnly));
    expect(opened.settings).toEqual({ host: "0.0.0.0" });
    write(shared(both));
    await untilSaid("server changed since it was trusted: mounts");
    await untilSaid("The previous config stays in effect until the new one is trusted");
    expect(opened.mounts.map(({ name }) => name)).toEqual(["docs"]);
    said = "";
    // Nor by removing the setting that lets them in: they stay connected until a restart.
    write(both);
    await untilSaid("The previous config stays in effect until the new one is trusted");
    expect(opened.mounts.map(({ name }) => name)).toEqual(["docs"]);
    const heard = collectChanges(await opened.resources.watch({ list: true }, call));
    write(shared(both));
    await trust();
    await heard.until(({ kind }) => kind === "list-changed", "that the list changed");
    expect(opened.mounts.map(({ name }) => name)).toEqual(["docs", "notes"]);
  });

  it("does not start a program again that was rewritten meanwhile", async () => {
    const server = (mark: string) => `import { appendFileSync } from "node:fs";
      appendFileSync(${JSON.stringify(join(root, "ran"))}, "${mark}");
      process.exit(1);`;
    const text = `${docsOnly}  p: { source: mcp, command: ${JSON.stringify(process.execPath)}, args: [server.mjs], cwd: ., search: false }\n`;
    writeFileSync(join(folder, "server.mjs"), server("one "));
    write(text);
    await trust();
    const opened = await open(text);
    expect((await opened.resources.list({}, call)).failures).toMatchObject([{ mount: "p" }]);
    const before = readFileSync(join(root, "ran"), "utf8");
    expect(before).toMatch(/^(?:one )+$/);
    writeFileSync(join(folder, "server.mjs"), server("two "));
    // Until the restart delay is over, requests get the last failure.
    while (!/the mount .*p.* changed after its config was loaded \(.*server\.mjs/.test(said)) {
      expect((await opened.resources.list({}, call)).failures).toMatchObject([{ mount: "p" }]);
      await wait(100, call.signal);
    }
    expect(readFileSync(join(root, "ran"), "utf8")).toBe(before);
  });

  it("does not open a database that was replaced by a link", async () => {
    for (const [file, value] of [
      [join(folder, "app.db"), "own"],
      [join(root, "outside/other.db"), "stolen"],
    ] as const) {
      const database = new DatabaseSync(file);
      database.exec(`create table t (v text); insert into t values ('${value}')`);
      database.close();
    }
    const text = `${docsOnly}  db: { source: sqlite, path: app.db, rows: true }\n`;
    write(text);
    await trust();
    const opened = await open(text);
    const read = async () => JSON.stringify(await opened.resources.read("sqlite://app.db/t/rows", call));
    expect(await read()).toContain("own");
    rmSync(join(folder, "app.db"));
    symlinkSync(join(root, "outside/other.db"), join(folder, "app.db"));
    await expect(read()).rejects.toMatchObject({ kind: "unavailable" });
  });
});

it("a cursor outlives the process under the same config", async () => {
  const opened = await open(`${both}server: { pageSize: 1 }\n`);
  const { next } = await opened.resources.list({}, call);
  await opened.close();
  const again = await open(`${both}server: { pageSize: 1 }\n`);
  expect((await again.resources.list({ cursor: next! }, call)).items[0]).toMatchObject({ uri: uri("docs/b.md") });
});
