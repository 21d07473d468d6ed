/** The configs and the JSON of the pages: read by the loader of configs, checked by a schema, or compared with the code. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { parseCommand } from "./parse-command.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { sources } from "../../src/sources/index.ts";
import { blocks, blocksIn, type CodeBlock, root, textOf, titleOf } from "./code-blocks.ts";

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-docs-")));
  for (const [name, option] of Object.entries(packages)) {
    const at = join(folder, "node_modules", name);
    mkdirSync(at, { recursive: true });
    writeFileSync(
      join(at, "package.json"),
      JSON.stringify({ name, version: "1.2.0", type: "module", main: "index.js" }),
    );
    writeFileSync(
      join(at, "index.js"),
      `export default { name: "${name}", summary: "A source", scheme: "x", options: (z) => z.object({ ${option}: z.string() }), open() {} };`,
    );
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Packages with sources of their own that the pages name, each with its option. */
const packages = { "pressmark-source-weather": "city", "pressmark-source-my-backend": "file" };

/** Every variable is set: to a word, except for addresses. */
const addresses: Readonly<Record<string, string>> = {
  DATABASE_URL: "postgres://pressmark@db.example:5432/shop",
  PRESSMARK_STATE: "postgres://pressmark@db.example:5432/pressmark",
  PRESSMARK_BUS: "nats://bus.example:4222",
  REDIS_URL: "redis://127.0.0.1:6379/0",
};

/** Reads it as a config that the user named; returns all problems. */
async function problemsOf(text: string, extension = "yaml"): Promise<readonly string[]> {
  const file = join(folder, `pressmark.config.${extension}`);
  // A file that a reference names exists where the page is true.
  writeFileSync(file, text.replaceAll(/\$\{file:[^}]+\}/g, "content-of-a-file"));
  const names = Array.from(text.matchAll(/\$\{env:(\w+)/g), ([, name]) => name!);
  const env = Object.fromEntries(names.map((name) => [name, addresses[name] ?? "value"]));
  try {
    const loaded = await loadConfig({ file, named: true }, { from: folder, env, stateFolder: join(folder, "state") });
    return "config" in loaded ? loaded.config.faulty.flatMap(({ problems }) => problems) : ["it is not trusted"];
  } catch (cause) {
    return [cause instanceof Error ? cause.message : String(cause)];
  }
}

it("finds problems of a config and of one of its mounts", async () => {
  expect(await problemsOf("server: { prot: 1 }\n")).toEqual([expect.stringContaining('did you mean "port"')]);
  expect(await problemsOf("mounts: { docs: { source: file, rot: . } }\n")).toContainEqual(
    expect.stringContaining('did you mean "root"'),
  );
});

it("the errors in docs/configuration.md are what such a config gets", async () => {
  const text = 'mounts:\n  docs:\n    source: file\n    rot: docs\n\nserver:\n  port: "7400"\n';
  expect(textOf("docs/configuration.md")).toContain(`pressmark: ${(await problemsOf(text)).join("\n")}\n`);
});

it("the rules in docs/programs.md are rules of a config", async () => {
  const [, written] = /^const rules = (.*);$/m.exec(textOf("docs/programs.md")) ?? [];
  const rules: unknown = parse(written ?? "");
  expect(await problemsOf(stringify({ mounts: { notes: { source: "file", root: "." } }, rules }))).toEqual([]);
});

it.each(blocksIn("yaml", "yml").map((block) => ({ block, title: titleOf(block) })))("$title", async ({ block }) => {
  if (block.notRun === undefined) expect(await problemsOf(configOf(block))).toEqual([]);
});

/** A page shows a part of a config where the rest is known. */
function configOf({ page, line, text, partOf }: CodeBlock): string {
  const value = parse(text) as object | null;
  if (partOf === "server.auth") return stringify({ server: { publicUrl: "https://mcp.example.com", auth: value } });
  const first = () =>
    parse(blocks.find((each) => each.page === page && each.language === "yaml")?.text ?? "") as Mounts;
  if (partOf === "the first config") return stringify({ ...first(), ...value });
  if (partOf !== undefined) throw new Error(`${page}:${line}: part of ${partOf}, which no test can fill in`);
  const isOfSource = dirname(page).endsWith("sources") && Object.hasOwn(sources, basename(page, ".md"));
  if (!isOfSource || value === null || Object.hasOwn(value, "mounts")) return text;
  // Options of a mount: those that the page shows first, and these.
  const [name, mount] = Object.entries(first().mounts)[0]!;
  return stringify({ mounts: { [name]: { ...mount, ...value } } });
}

interface Mounts {
  readonly mounts: Readonly<Record<string, object>>;
}

it.each(blocksIn("json", "jsonc").map((block) => ({ block, title: titleOf(block) })))("$title", async ({ block }) => {
  const { page, text, notRun } = block;
  if (notRun !== undefined) return;
  const value = JSON.parse(block.language === "jsonc" ? text.replaceAll(/^\s*\/\/.*$/gm, "") : text) as object;
  const servers = serversIn(value);
  if (servers) for (const server of servers) await checkServer(server);
  else if ("mounts" in value && !Array.isArray(value.mounts)) expect(await problemsOf(text, "json")).toEqual([]);
  else if (page.endsWith("sources/analysis.md") && "taskType" in value) expect(analysisProblems(value)).toEqual([]);
  else expect(unknownKeys(value)).toEqual([]);
});

/** The servers in the settings of a host, under the key that it uses. */
function serversIn(value: object): readonly object[] | undefined {
  const key = Object.keys(value).find((each) => ["mcpServers", "servers", "mcp", "context_servers"].includes(each));
  return key === undefined ? undefined : Object.values((value as Record<string, object>)[key]!);
}

async function checkServer(server: object): Promise<void> {
  const { command, args = [], url, httpUrl } = server as Partial<Record<string, string>> & { args?: readonly string[] };
  if (command === undefined) return expect(URL.canParse(url ?? httpUrl ?? "")).toBe(true);
  const words = [command, ...args];
  const own = words.findIndex((word) => word === "pressmark" || word.endsWith("bin/pressmark.js"));
  if (own >= 0) await parseCommand(words.slice(own + 1));
}

const schema = JSON.parse(readFileSync(join(root, "docs/analysis.schema.json"), "utf8")) as object;

function analysisProblems(input: object): readonly unknown[] {
  const action = "result" in input ? "store_analysis" : "find_analysis";
  const check = new Ajv2020({ strict: false }).compile({ ...schema, $ref: `#/$defs/${action}` });
  return check(input) ? [] : (check.errors ?? []);
}

const code = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
  .map((name) => readFileSync(join(root, "src", name), "utf8"))
  .join("\n");

/** Names in an answer that no code writes. */
function unknownKeys(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(unknownKeys);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => [...(code.includes(key) ? [] : [key]), ...unknownKeys(each)]);
}
