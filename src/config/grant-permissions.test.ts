/** What a grant is bound to: every later change must be trusted again, and is named. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Config } from "./config.ts";
import { grantPermissions, permissionsAsked } from "./grant-permissions.ts";
import { type ConfigContext, loadConfig } from "./load-config.ts";
import { asksFor, type Permission } from "./trust.ts";

let root: string;
let folder: string;
let env: Record<string, string | undefined>;
let read: string[];
let world: ConfigContext;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-grant-")));
  folder = join(root, "project");
  for (const name of ["docs", "notes", "../outside"]) mkdirSync(join(folder, name), { recursive: true });
  env = { SECRET: "hunter2hunter2", OTHER: "another-secret", WHERE: "docs", HERE: folder };
  read = [];
  world = {
    from: folder,
    env: new Proxy(env, {
      get(target, name) {
        read.push(String(name));
        return Reflect.get(target, name) as unknown;
      },
    }) as ConfigContext["env"],
    stateFolder: join(root, "state"),
  };
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(name: string, content: string): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

const config = (text: string) => write("pressmark.config.yaml", text);

async function load(file = join(folder, "pressmark.config.yaml")): Promise<Config> {
  const loaded = await loadConfig({ file, named: false }, world);
  if ("untrusted" in loaded) throw new Error(`untrusted: ${asksFor(loaded.untrusted)}; ${loaded.untrusted.outdated}`);
  return loaded.config;
}

async function trust(file = join(folder, "pressmark.config.yaml")): Promise<readonly Permission[]> {
  const asked = await permissionsAsked(file, world);
  await grantPermissions(file, asked, world);
  return asked;
}

const names = ({ mounts }: Config) => mounts.map(({ name }) => name);
const why = ({ withheld }: Config) => withheld.map(({ outdated }) => outdated);
const withDocs = (mounts: string, more = "") => `mounts:\n  docs: { source: file, root: docs }\n  ${mounts}\n${more}`;
const program = `command: ${JSON.stringify(process.execPath)}, cwd: .`;

/** A source of one's own. */
const definitionOf = (name: string) =>
  `export default { name: ${name}, summary: "x", scheme: "x", options: (z) => z.object({}), open: async () => ({}) };`;

/** A config, a change after it was trusted, and the reported change. */
const changes: readonly [what: string, before: string, change: () => void, changed: string][] = [
  [
    "an option that kept something back is removed",
    withDocs("m: { source: file, root: notes, hidden: true, exclude: ['*.key'] }"),
    () => config(withDocs("m: { source: file, root: notes, hidden: true }")),
    "mounts.m changed since it was trusted: exclude",
  ],
  [
    "what masked all mounts is gone",
    withDocs("m: { source: file, root: notes, hidden: true }", "redact: true"),
    () => config(withDocs("m: { source: file, root: notes, hidden: true }")),
    "mounts.m changed since it was trusted: redact for all mounts",
  ],
  [
    "a reference names another variable",
    withDocs("m: { source: memory, resources: { a: '${env:SECRET}' } }"),
    () => config(withDocs("m: { source: memory, resources: { a: '${env:OTHER}' } }")),
    "mounts.m changed since it was trusted: resources",
  ],
  [
    "a file of the folder that a reference reads is written to",
    withDocs("m: { source: memory, resources: { a: '${file:own.txt}' } }"),
    () => write("own.txt", "another"),
    'mounts.m changed since it was trusted: "own.txt"',
  ],
  [
    "a program that is named through a variable is written to",
    withDocs(`m: { source: mcp, ${program}, args: ["\${env:HERE}/server.js"] }`),
    () => write("server.js", "another"),
    'mounts.m changed since it was trusted: "server.js"',
  ],
  [
    "a program that is named instead of a variable is written to",
    withDocs(`m: { source: mcp, ${program}, args: ["\${env:ABSENT:-server.js}"] }`),
    () => write("server.js", "another"),
    'mounts.m changed since it was trusted: "server.js"',
  ],
  [
    "a program appears where one was named and none was",
    withDocs(`m: { source: mcp, ${program}, args: [later.js] }`),
    () => write("later.js", "another"),
    'mounts.m changed since it was trusted: "later.js"',
  ],
  [
    "what a source of one's own imports is written to",
    withDocs("m: { source: ./own/source.ts }"),
    () => write("own/helper.ts", 'export const name = "evil";'),
    'mounts.m changed since it was trusted: "own/helper.ts"',
  ],
  [
    "a source of one's own writes to a file that it names by a relative path",
    withDocs("m: { source: ./own/source.ts }"),
    () => write("own/state.json", "{}"),
    'mounts.m changed since it was trusted: "own/state.json"',
  ],
  [
    "a link leads elsewhere within the folder",
    withDocs("m: { source: file, root: link, hidden: true }"),
    () => relink("link", "docs"),
    "mounts.m changed since it was trusted: where root leads",
  ],
  [
    "a link in the middle of a path leads elsewhere",
    withDocs("m: { source: sqlite, path: link/app.db, rows: true }"),
    () => relink("link", join(root, "outside")),
    "mounts.m changed since it was trusted: where path leads, what it asks for",
  ],
  [
    "a variable leads elsewhere",
    withDocs("m: { source: file, root: '${env:WHERE}', scheme: m }"),
    () => (env["WHERE"] = "notes"),
    "mounts.m changed since it was trusted: where root leads",
  ],
  [
    "the folder is ignored by now",
    withDocs("m: { source: file, root: notes, hidden: true }"),
    () => write(".gitignore", "notes/\n"),
    "mounts.m changed since it was trusted: what it asks for",
  ],
  [
    "a file of settings leads elsewhere",
    withDocs("m: { source: config, root: ., files: [app.yaml], env: false, show: ['*'] }"),
    () => relink("app.yaml", "own.txt"),
    'mounts.m changed since it was trusted: where "app.yaml" leads',
  ],
  [
    "others are let in without the token",
    withDocs("", 'server: { host: 0.0.0.0, token: "${env:SECRET}" }'),
    () => config(withDocs("", "server: { host: 0.0.0.0 }")),
    "server changed since it was trusted: token",
  ],
  [
    "others are let in to more",
    withDocs("", "server: { host: 0.0.0.0 }"),
    () => config(withDocs("more: { source: file, root: notes }", "server: { host: 0.0.0.0 }")),
    "server changed since it was trusted: mounts",
  ],
  [
    "more is sent to be embedded",
    withDocs("", 'search: { embeddings: { url: "http://127.0.0.1:9/v1", model: m } }'),
    () =>
      config(
        withDocs(
          "more: { source: file, root: notes }",
          'search: { embeddings: { url: "http://127.0.0.1:9/v1", model: m } }',
        ),
      ),
    "search changed since it was trusted: mounts",
  ],
];

function relink(name: string, to: string): void {
  rmSync(join(folder, name), { force: true });
  symlinkSync(to, join(folder, name));
}

describe("a grant no longer counts when", () => {
  it.each(changes)("%s", async (_what, before, change, changed) => {
    write("own.txt", "own");
    write("server.js", "first");
    write("app.yaml", "a: 1");
    write("own/helper.ts", 'export const name = "mine";');
    write(
      "own/source.ts",
      `import { name } from "./helper.ts"; export const state = "./state.json"; ${definitionOf("name")}`,
    );
    relink("link", "notes");
    config(before);
    await trust();
    const granted = await load();
    expect(granted.withheld).toEqual([]);
    change();
    const now = await load();
    expect(why(now)).toEqual([changed]);
    expect(names(now)).not.toContain("m");
    expect([now.server, now.search]).toEqual([{}, {}]);
  });
});

describe("a grant still counts when", () => {
  it("the text is written in another way, and other parts change", async () => {
    config(withDocs("m: { source: file, root: notes, hidden: true }"));
    await trust();
    config(
      '# a comment\nserver: { port: 1 }\nlimits: { maxAtOnce: 3 }\nmounts: { "m": { hidden: true, root: "notes", "source": file } }\n',
    );
    expect(names(await load())).toEqual(["m"]);
  });

  it("fewer permissions are needed, because the folder is no longer ignored", async () => {
    write(".gitignore", "notes/\n");
    config(withDocs("m: { source: file, root: notes, hidden: true }"));
    await trust();
    write(".gitignore", "");
    expect(names(await load())).toEqual(["docs", "m"]);
  });

  it("a source of one's own writes to a file of its options, or beside it by a computed path", async () => {
    write(
      "own/source.ts",
      `import { join } from "node:path";
       export const file = join(import.meta.dirname, "state.json");
       export default { name: "mine", summary: "x", scheme: "x", open: async () => ({}),
         options: (z) => z.object({ log: z.string().meta({ format: "path" }) }) };`,
    );
    config(withDocs("m: { source: ./own/source.ts, log: ./own/mine.log }"));
    write("own/mine.log", "one");
    await trust();
    write("own/mine.log", "two");
    write("own/state.json", "{}");
    expect(names(await load())).toEqual(["docs", "m"]);
  });

  it("a file elsewhere that a reference reads is written to, which the folder's author cannot", async () => {
    writeFileSync(join(root, "outside/token"), "one");
    config(withDocs("m: { source: memory, resources: { a: '${file:../outside/token}' } }"));
    await trust();
    writeFileSync(join(root, "outside/token"), "two");
    expect((await load()).mounts[1]!.options).toMatchObject({ resources: { a: "two" } });
  });
});

describe("before it is trusted, a config", () => {
  it("has none of its references resolved, wherever they stand, and is checked as far as that goes", async () => {
    const file = config(`
mounts:
  docs: { source: file, root: docs }
  a: { source: memory, resources: { x: "\${env:SECRET}" } }
  b: { source: file, root: "\${env:WHERE}", hidden: true }
  c: { source: "\${env:SECRET}" }
  d: { source: mcp, url: "https://\${env:SECRET}/" }
  e: { source: docs, root: docs, limits: { timeoutMs: "\${env:SECRET}" } }
  f: { source: config, root: ., files: ["\${env:WHERE}.yaml"], precedence: ["docs.yaml"], env: false }
limits: { timeoutMs: "\${env:SECRET}", maxAtOnce: 3 }
redact: "\${env:SECRET}"
search: { maxFiles: "\${env:SECRET}", enabled: false }
server: { token: "\${env:SECRET}", port: 1234, allowedHosts: ["\${file:own.txt}"] }
`);
    const loaded = await load();
    expect(read).toEqual([]);
    expect(names(loaded)).toEqual(["docs"]);
    expect(loaded.mounts[0]).toMatchObject({ limits: { maxAtOnce: 3 }, redact: true });
    expect([loaded.server, loaded.search]).toEqual([{ port: 1234 }, { enabled: false }]);
    expect(loaded.withheld.map(({ part, settings }) => [part, ...settings])).toEqual([
      ...["a", "b", "c", "d", "e", "f"].map((name) => [`mounts.${name}`]),
      ["server", "token", "allowedHosts"],
      ["search", "maxFiles"],
      ["limits", "timeoutMs"],
      ["redact", "redact"],
    ]);
    expect(loaded.redact("hunter2hunter2")).toBe("hunter2hunter2");
    await permissionsAsked(file, world);
    expect(read).toEqual([]);
  });

  it("reports problems besides its references", async () => {
    config(`
mounts:
  a: { source: memory, resource: { x: "\${env:SECRET}" }, other: "\${env:SECRET}" }
  b: { source: file, root: "\${env:WHERE}", maxBytes: lots }
server: { token: "\${env:SECRET}", prot: 1 }
`);
    await expect(load()).rejects.toMatchObject({
      lines: [
        expect.stringContaining("mounts.a.resource: unknown option"),
        expect.stringContaining("mounts.a.other: unknown option"),
        expect.stringContaining("mounts.b.maxBytes: must be a number"),
        expect.stringContaining("server.prot: unknown option"),
      ],
    });
    config('server: { token: "${env:SECRET}" }\nsets: { x: { resources: ["${env:SECRET}"] } }\n');
    await expect(load()).rejects.toThrow("sets.x.resources[0]: is shown to clients");
    expect(read).toEqual([]);
  });
});

describe("what is granted is what was shown", () => {
  it("and not a change of the config during the prompt", async () => {
    const file = config(withDocs("m: { source: file, root: notes, hidden: true }"));
    const asked = await permissionsAsked(file, world);
    config(withDocs("m: { source: file, root: ., hidden: true }"));
    await grantPermissions(file, asked, world);
    expect(names(await load())).toEqual(["docs"]);
    config(withDocs("m: { source: file, root: notes, hidden: true }"));
    expect(names(await load())).toEqual(["docs", "m"]);
  });

  it("nor what a program became", async () => {
    write("server.js", "one");
    const file = config(withDocs(`m: { source: mcp, ${program}, args: [server.js] }`));
    const asked = await permissionsAsked(file, world);
    write("server.js", "two");
    await grantPermissions(file, asked, world);
    expect(why(await load())).toEqual(['mounts.m changed since it was trusted: "server.js"']);
  });

  it.each([
    ["a program that was not there", `m: { source: mcp, ${program}, args: [later.js] }`, "later.js", '"later.js"'],
    ["an import that was not there", "m: { source: ./own/source.ts }", "own/later.ts", '"own/later.ts"'],
    ["a reason", "m: { source: file, root: notes, hidden: true }", ".gitignore", "what it asks for"],
  ])("nor %s", async (_what, mount, appears, changed) => {
    write("own/source.ts", `${definitionOf('"mine"')} export const later = () => import("./later.ts");`);
    const file = config(withDocs(mount));
    const asked = await permissionsAsked(file, world);
    write(appears, "notes/\n");
    await grantPermissions(file, asked, world);
    expect(why(await load())).toEqual([`mounts.m changed since it was trusted: ${changed}`]);
  });

  it("and nothing of a part that is too long to be shown", async () => {
    const file = config(withDocs(`m: { source: mcp, command: sh, env: { NOTE: "${"x".repeat(4000)}" } }`));
    const [asked] = await trust();
    expect(asked!.refused).toMatch(/^is too long to be shown \(\d+ characters, of at most 4000\)$/);
    expect(names(await load())).toEqual(["docs"]);
    expect((await loadConfig({ file, named: true }, world)) as object).toMatchObject({ config: { withheld: [] } });
  });

  it("by anchors and aliases, too, and no value that cannot be compared", async () => {
    config(withDocs("m: { source: memory, resources: { x: 2020-01-01 } }"));
    expect(names(await load())).toEqual(["docs", "m"]);
    for (const strange of ["!!timestamp 2020-01-01", "!!set { a, b }", "!!binary aGk=", ".inf", ".nan"]) {
      config(`%YAML 1.1\n---\nmounts: { m: { source: memory, resources: { x: ${strange} } } }\n`);
      await expect(load()).rejects.toThrow(/is not a string, number/);
    }
    config(
      "%YAML 1.1\n---\nmounts:\n  docs: &d { source: file, root: docs }\n  m: { <<: *d, root: notes, hidden: true }\n",
    );
    const [asked] = await trust();
    expect(asked!.shown).toEqual(["hidden: true", 'root: "notes"', 'source: "file"']);
    config(
      "%YAML 1.1\n---\nmounts:\n  docs: &d { source: docs, root: docs }\n  m: { <<: *d, root: notes, hidden: true }\n",
    );
    expect(why(await load())).toEqual(["mounts.m changed since it was trusted: source"]);
  });
});

describe("a config in TypeScript", () => {
  it("is bound to the programs that its mounts name, though nobody saw them before it ran", async () => {
    write("server.js", "one");
    const file = write(
      "pressmark.config.ts",
      `export default { mounts: { docs: { source: "file", root: "docs" }, m: { source: "mcp", command: "node", args: ["server.js"], cwd: "." } } };`,
    );
    const asked = await trust(file);
    expect(asked.map(({ part }) => part)).toEqual(["config"]);
    expect(names(await load(file))).toEqual(["docs", "m"]);
    write("server.js", "two");
    const changed = await load(file);
    expect([names(changed), why(changed)]).toEqual([["docs"], ['mounts.m changed since it was trusted: "server.js"']]);
    await trust(file);
    expect(names(await load(file))).toEqual(["docs", "m"]);
  });

  it("is run no more when something that it imports, however far, has changed or is new", async () => {
    write("lib/b.json", "{}");
    write("lib/a.ts", 'import b from "./b.json" with { type: "json" }; export const a = b;');
    const file = write(
      "pressmark.config.ts",
      'import "./lib/a.ts"; import("./c.ts").catch(() => 0); export default {};',
    );
    await trust(file);
    expect(names(await load(file))).toEqual(["project"]);
    write("lib/b.json", "[]");
    await expect(load(file)).rejects.toThrow(/untrusted: runs .* config changed since it was trusted: "lib\/b.json"/);
    await trust(file);
    write("c.ts", "");
    await expect(load(file)).rejects.toThrow(/config changed since it was trusted: "c.ts"/);
  });
});

it("a link to a trusted config, from another folder, is another config", async () => {
  write("server.js", "one");
  config(withDocs("m: { source: file, root: notes, hidden: true }"));
  await trust();
  const other = join(root, "other");
  for (const name of ["docs", "notes"]) mkdirSync(join(other, name), { recursive: true });
  symlinkSync(join(folder, "pressmark.config.yaml"), join(other, "pressmark.config.yaml"));
  expect(names(await load(join(other, "pressmark.config.yaml")))).toEqual(["docs"]);
  symlinkSync(folder, join(root, "alias"));
  expect(names(await load(join(root, "alias/pressmark.config.yaml")))).toEqual(["docs", "m"]);
});

it("settings that are references count once they are trusted", async () => {
  env["LIMIT"] = "77";
  env["MASK"] = "false";
  config(withDocs("", 'limits: { timeoutMs: "${env:LIMIT}" }\nredact: "${env:MASK}"\n'));
  expect((await load()).mounts[0]).toMatchObject({ limits: {}, redact: true });
  await trust();
  const [docs] = (await load()).mounts;
  expect([docs!.limits, docs!.redact]).toEqual([{ timeoutMs: 77 }, undefined]);
});

it("no mount answers in the place of the picker, the status or the web unasked", async () => {
  for (const scheme of ["ui", "pressmark", "set", "zed", "https"]) {
    config(withDocs(`pressmark: { source: memory, resources: { picker: x }, scheme: ${scheme} }`));
    expect(names(await load())).toEqual(["docs"]);
  }
  await trust();
  expect(names(await load())).toEqual(["docs", "pressmark"]);
});

it("save_set, which lets callers write, is not there unasked", async () => {
  config(withDocs("", "server: { tools: [save_set, read_resource] }"));
  expect((await load()).server).toEqual({});
  await trust();
  expect((await load()).server.tools).toEqual(["save_set", "read_resource"]);
});
