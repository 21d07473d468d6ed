import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { invalid } from "../errors.ts";
import { defineSource } from "../source.ts";
import { createMemory } from "../sources/memory.ts";
import { sources } from "../sources/index.ts";
import type { Registry } from "./find-source.ts";
import type { Config } from "./config.ts";
import { grantPermissions, permissionsAsked } from "./grant-permissions.ts";
import { type ConfigContext, loadConfig, plainName, trustCommand } from "./load-config.ts";
import { ConfigError } from "./problem.ts";
import { mountSchema } from "./schema.ts";
import { asksFor, createTrustStore } from "./trust.ts";

let root: string;
let folder: string;
let world: ConfigContext;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-config-")));
  folder = join(root, "project");
  mkdirSync(join(folder, "docs"), { recursive: true });
  mkdirSync(join(root, "outside"));
  world = {
    from: folder,
    env: { PORT: "8080", SECRET: "hunter2hunter2", WHERE: "docs" },
    stateFolder: join(root, "state"),
  };
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(text: string, name = "pressmark.config.yaml"): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

interface LoadTestOptions extends Partial<ConfigContext> {
  readonly name?: string;
  readonly named?: boolean;
}

async function load(
  text: string,
  { name = "pressmark.config.yaml", named = true, ...more }: LoadTestOptions = {},
): Promise<Config> {
  const loaded = await loadConfig({ file: write(text, name), named }, { ...world, ...more });
  if ("untrusted" in loaded) throw new Error(`untrusted: ${asksFor(loaded.untrusted)}`);
  return loaded.config;
}

async function trust(file: string, around = world): Promise<void> {
  await grantPermissions(file, await permissionsAsked(file, around), around);
}

async function problems(text: string, name?: string): Promise<readonly string[]> {
  try {
    const { faulty } = await load(text, name === undefined ? {} : { name });
    return faulty.flatMap((mount) => mount.problems);
  } catch (cause) {
    if (cause instanceof ConfigError) return cause.lines;
    throw cause;
  }
}

/** A program that writes a file when it runs. */
function marking(marker: string): string {
  return `import { writeFileSync } from "node:fs";
     writeFileSync(${JSON.stringify(join(root, "ran"))}, ${JSON.stringify(marker)});
     const root: string = "docs";
     export default { mounts: { docs: { source: "file", root } } };`;
}

function ran(): boolean {
  return readdirSync(root).includes("ran");
}

function referring(path: string): string {
  return `mounts: { d: { source: file, root: docs }, m: { source: memory, resources: { a: "\${file:${path}}" } } }`;
}

const good = `
mounts:
  docs:
    source: file
    root: docs
    scheme: docs
    limits: { timeoutMs: 100 }
  notes:
    source: memory
    resources:
      hello.txt: Hello
limits:
  timeoutMs: 5000
  maxAtOnce: 3
server:
  port: 8081
`;

describe("a config", () => {
  it("gives the mounts, with absolute paths and with limits of a mount before those for all", async () => {
    const config = await load(good, { from: "/" });
    expect(
      config.mounts.map(({ name, definition, scheme, limits }) => [name, definition.name, scheme, limits]),
    ).toEqual([
      ["docs", "file", "docs", { timeoutMs: 100, maxAtOnce: 3 }],
      ["notes", "memory", undefined, { timeoutMs: 5000, maxAtOnce: 3 }],
    ]);
    expect(config.mounts[0]!.options).toMatchObject({ root: join(folder, "docs"), maxBytes: 5 * 1024 * 1024 });
    expect(config.server).toEqual({ port: 8081 });
    expect(config.permissions).toEqual([]);
  });

  it("may be JSON, with the same result", async () => {
    const { parse } = await import("yaml");
    const config = await load(JSON.stringify({ $schema: "./schema.json", ...parse(good) }), {
      name: "pressmark.config.json",
    });
    expect(config.shown).toEqual((await load(good)).shown);
  });

  it("without mounts serves its own folder", async () => {
    for (const text of ["", "# nothing yet\n", "server: { port: 1 }\n"]) {
      const { mounts } = await load(text);
      expect(mounts.map(({ name, options }) => [name, (options as { root: string }).root])).toEqual([
        ["project", folder],
      ]);
    }
  });

  it("has numbers and switches from references, which give texts", async () => {
    const config = await load("server: { port: '${env:PORT}' }\nmounts: { d: { source: file, root: '${env:WHERE}' } }");
    expect(config.server).toEqual({ port: 8080 });
    expect(config.mounts[0]!.options).toMatchObject({ root: join(folder, "docs") });
  });

  it("is shown with dots for what came from a reference", async () => {
    const config = await load(`
mounts:
  m:
    source: memory
    resources: { key: "a \${env:SECRET} b", plain: text }
server: { port: "\${env:PORT}" }
`);
    expect(config.shown).toEqual({
      mounts: { m: { source: "memory", resources: { key: "••••", plain: "text" } } },
      server: { port: "••••" },
    });
    expect(config.redact("it is hunter2hunter2")).toBe("it is ••••");
    expect(config.refusal(["mounts", "m"], invalid("no hunter2hunter2 here")).message).toBe(
      "pressmark.config.yaml:4:5 mounts.m: no •••• here",
    );
  });
});

describe("what is wrong with a config", () => {
  it("is reported all together, in the order of the text, with line, column, key and the nearest name", async () => {
    expect(
      await problems(`
mounts:
  docs:
    source: file
    rot: docs
    maxBytes: lots
  other:
    source: fiel
  third: 3
  4 5: { source: memory, resources: {} }
limits: { timeout: 3 }
server:
  prot: 1
  host: ""
serve: {}
`),
    ).toEqual([
      'pressmark.config.yaml:5:5 mounts.docs.rot: unknown option; did you mean "root"?',
      "pressmark.config.yaml:6:15 mounts.docs.maxBytes: must be a number, not a string",
      'pressmark.config.yaml:8:13 mounts.other.source: unknown source "fiel"; did you mean "file"?',
      "pressmark.config.yaml:9:10 mounts.third: must be an object, not a number",
      'pressmark.config.yaml:10:3 mounts["4 5"]: a mount\'s name must begin with a letter or digit and may contain letters, digits, dots, dashes and underscores, at most 64 characters',
      'pressmark.config.yaml:11:11 limits.timeout: unknown option; did you mean "timeoutMs"?',
      'pressmark.config.yaml:13:3 server.prot: unknown option; did you mean "port"?',
      "pressmark.config.yaml:14:9 server.host: must not be empty",
      'pressmark.config.yaml:15:1 serve: unknown option; did you mean "server"?',
    ]);
  });

  it("is reported for JSON in the same way", async () => {
    expect(
      await problems(
        '{\n  "mounts": {\n    "docs": { "source": "file", "rot": "docs" }\n  }\n}',
        "pressmark.config.json",
      ),
    ).toEqual(['pressmark.config.json:3:33 mounts.docs.rot: unknown option; did you mean "root"?']);
    expect(await problems('{ "mounts": {},\n "mounts": {} }', "pressmark.config.json")).toEqual([
      "pressmark.config.json:2:2 mounts: this key is a duplicate; remove one",
    ]);
    expect(await problems("{\n  oops\n}", "pressmark.config.json")).toEqual([
      'pressmark.config.json:2:3: expected a key in "',
    ]);
  });

  it.each([
    ["mounts:\n\tdocs: 1", "pressmark.config.yaml:2:1: indent with spaces, not with tabs"],
    ["mounts: {}\nmounts: {}", "pressmark.config.yaml:2:1: this key is a duplicate; remove one"],
    [
      "mounts: [1",
      "pressmark.config.yaml:1:11: the indentation does not match its surroundings, or a bracket is not closed",
    ],
    ["[]", "pressmark.config.yaml:1:1: must be an object, not a list"],
    ["mounts: {}", "pressmark.config.yaml:1:9 mounts: is empty; add a mount, or remove the key to serve this folder"],
    [
      "mounts: { a: { root: docs } }",
      "pressmark.config.yaml:1:14 mounts.a.source: is missing; use one of SOURCES, your own file (./source.ts), or a package (pressmark-source-…)",
    ],
    [
      "mounts: { a: { source: file, root: docs, scheme: File } }",
      'pressmark.config.yaml:1:50 mounts.a.scheme: must be a scheme, such as "docs": lower-case letters, digits, "+", "." and "-"',
    ],
    [
      "mounts: { a: { source: file, root: docs, scheme: file } }",
      'pressmark.config.yaml:1:50 mounts.a.scheme: must not be "file", whose URIs are paths on this machine',
    ],
    [
      "mounts: { a: { source: file, root: docs, freshness: { scope: publc } } }",
      'pressmark.config.yaml:1:62 mounts.a.freshness.scope: did you mean "public"?',
    ],
    [
      "mounts: { a: { sorce: file, root: . } }",
      'pressmark.config.yaml:1:16 mounts.a.sorce: unknown option; did you mean "source"?',
    ],
    ["server: { tools: [search] }", 'pressmark.config.yaml:1:19 server.tools[0]: did you mean "search_resources"?'],
    ["server: { tools: some }", "pressmark.config.yaml:1:18 server.tools: must be true or false or a list"],
    ["server: { port: 65536 }", "pressmark.config.yaml:1:17 server.port: must be at most 65535"],
    ["server: { port: 1.5 }", "pressmark.config.yaml:1:17 server.port: must be a whole number, not a number"],
    ["server: { port: '${env:SECRET}' }", "pressmark.config.yaml:1:17 server.port: must be a number, not a string"],
    [
      "server: { allowedHosts: [a, 2] }",
      "pressmark.config.yaml:1:29 server.allowedHosts[1]: must be a string, not a number",
    ],
    [
      "mounts: { m: { source: memory, resources: { a: { text: x, tile: y } } } }",
      'pressmark.config.yaml:1:59 mounts.m.resources.a.tile: unknown option; did you mean "title"?',
    ],
    [
      "mounts: { m: { source: memory, resources: { a: {} } } }",
      "pressmark.config.yaml:1:48 mounts.m.resources.a: give either text or base64",
    ],
    [
      "mounts: { m: { source: memory, resources: { a: 1 } } }",
      "pressmark.config.yaml:1:48 mounts.m.resources.a: must be a string or an object",
    ],
    [
      "mounts: { m: { source: '${env:SECRET}' } }",
      "pressmark.config.yaml:1:24 mounts.m.source: unknown source; use one of SOURCES, your own file (./source.ts), or a package (pressmark-source-…)",
    ],
    [
      "mounts: { w: { source: web, hosts: [a.example, { host: b.example, headers: { A: '${env:SECRET}', B: hunter2 } }] } }",
      "pressmark.config.yaml:1:101 mounts.w.hosts[1].headers.B: is a secret; write it as a reference, such as ${env:NAME} or ${file:path}",
    ],
    [
      "sets: { ../x: { resources: [a] } }",
      'pressmark.config.yaml:1:9 sets["../x"]: a set\'s name must begin with a letter or digit and may contain letters, digits, dots, dashes and underscores, at most 64 characters',
    ],
    [
      "sets: { x: { resources: [a, 'set://y'] } }",
      "pressmark.config.yaml:1:29 sets.x.resources[1]: a set contains resources, not other sets",
    ],
    [
      "sets: { x: { resources: ['${env:SECRET}'] } }",
      "pressmark.config.yaml:1:26 sets.x.resources[0]: is shown to clients, so it must not contain a reference",
    ],
    ["sets: { x: { resources: [] } }", "pressmark.config.yaml:1:25 sets.x.resources: must not be empty"],
    ["sets: { x: {} }", "pressmark.config.yaml:1:12 sets.x.resources: is missing; it must be a list"],
    [
      "sets: { x: { resource: [a] } }",
      'pressmark.config.yaml:1:14 sets.x.resource: unknown option; did you mean "resources"?',
    ],
    [
      "__proto__: 1",
      "pressmark.config.yaml:1:1 __proto__: unknown option; use one of mounts, limits, redact, search, sets, callers, rules, quotas, server",
    ],
  ])("is pointed at: %j", async (text, line) => {
    expect(await problems(text)).toEqual([line.replace("SOURCES", Object.keys(sources).join(", "))]);
  });

  it("never holds what came from a reference", async () => {
    const said = await problems(
      "mounts: { m: { source: file, root: { x: '${env:SECRET}' }, '${env:SECRET}': 1 } }\nserver: { port: '${env:SECRET}' }",
    );
    expect(said).toHaveLength(3);
    expect(said.join()).not.toContain("hunter2");
  });

  it("is one line each, as one error that a person reads", async () => {
    await expect(load("server: { port: x }")).rejects.toThrow(
      /^pressmark\.config\.yaml:1:17 server\.port: must be a number/,
    );
    await expect(load("server: { port: x, host: 1 }")).rejects.toThrow(
      /^pressmark\.config\.yaml has 2 problems\n {2}press.*\n {2}press.*$/,
    );
  });

  it("is named relative to the current folder", async () => {
    await expect(load("serve: 1", { from: join(folder, "docs") })).rejects.toThrow(
      /^\.\.\/pressmark\.config\.yaml:1:1 serve: /,
    );
  });

  it("may be the file itself", async () => {
    const absent = loadConfig({ file: join(folder, "none.yaml"), named: true }, world);
    await expect(absent).rejects.toThrow("none.yaml: no such file; check the path");
    await expect(loadConfig({ file: join(folder, "docs"), named: true }, world)).rejects.toThrow("docs: is not a file");
    await expect(load(`# ${"x".repeat(2 ** 20)}`)).rejects.toThrow("is larger than 1048576 bytes");
  });

  it("may be aliases that unfold without end", async () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefghi"
      .split("")
      .map((name, index) => `${name}: &${name} [${Array.from({ length: 9 }, () => `*${"abcdefgh"[index]!}`).join()}]`)
      .join("\n")}`;
    expect(await problems(bomb)).toEqual([
      "pressmark.config.yaml:1:1: its aliases expand to too much data; write them out",
    ]);
  });
});

describe("a config that was merely found", () => {
  const found = { named: false };
  const outside = `
mounts:
  docs: { source: file, root: docs }
  out: { source: file, root: ../outside }
server: { host: 0.0.0.0, port: 1234, allowedHosts: [example.org] }
`;

  it("may serve its own folder and no more; the rest is left out and reported", async () => {
    const config = await load(outside, found);
    expect(config.mounts.map(({ name }) => name)).toEqual(["docs"]);
    expect(config.server).toEqual({ port: 1234 });
    expect(config.withheld.flatMap(({ reasons }) => reasons)).toEqual([
      `reaches ${JSON.stringify(join(root, "outside"))}, outside its own folder, for mounts.out.root`,
      'listens on "0.0.0.0", where other machines may reach it',
      'answers to the name "example.org"',
    ]);
  });

  it("may neither trust a proxy nor have a certificate", async () => {
    const text = "server: { port: 1234, trustProxy: [10.0.0.0/8], tls: { cert: a.pem, key: a.key } }\n";
    const config = await load(text, found);
    expect(config.server).toEqual({ port: 1234 });
    const [{ reasons, settings } = { reasons: [], settings: [] }] = config.withheld;
    expect(settings).toEqual(["trustProxy", "tls"]);
    expect(reasons).toEqual([
      'believes the proxy "10.0.0.0/8" about who connects',
      expect.stringMatching(/^identifies itself with the key in ".*a\.key"$/),
    ]);
    expect((await load(text)).server.tls).toEqual({
      cert: expect.stringMatching(/\/a\.pem$/),
      key: expect.any(String),
    });
  });

  it("may do all of it when it was named, or when that was trusted", async () => {
    expect((await load(outside)).mounts).toHaveLength(2);
    const file = write(outside);
    await trust(file, world);
    const config = await load(outside, found);
    expect(config.mounts.map(({ name }) => name)).toEqual(["docs", "out"]);
    expect(config.withheld).toEqual([]);
  });

  it("keeps what it was trusted with when it changes, and gets nothing new by it", async () => {
    const file = write(outside);
    await trust(file, world);
    const config = await load(
      `${outside}limits: { maxAtOnce: 1 }`.replace("docs: {", "more: { source: file, root: / }\n  docs: {"),
      found,
    );
    expect(config.mounts.map(({ name }) => name)).toEqual(["docs", "out"]);
    expect(config.withheld.flatMap(({ reasons }) => reasons)).toEqual([
      'reaches "/", outside its own folder, for mounts.more.root',
      // Other machines would see more than when they were let in.
      'listens on "0.0.0.0", where other machines may reach it',
      'answers to the name "example.org"',
    ]);
  });

  it("is not trusted because another folder's is", async () => {
    const file = write(outside);
    await trust(file, world);
    mkdirSync(join(root, "copy/docs"), { recursive: true });
    const copy = join(root, "copy", "pressmark.config.yaml");
    writeFileSync(copy, outside);
    const loaded = await loadConfig({ file: copy, named: false }, world);
    expect("config" in loaded && loaded.config.withheld).toHaveLength(2);
  });

  it.runIf(process.getuid?.() === 0)(
    "is not believed where it belongs to another user (needs root to give it away)",
    async () => {
      const file = write("mounts: { docs: { source: file, root: docs } }");
      chownSync(file, 12_345, 12_345);
      expect(await loadConfig({ file, named: false }, world)).toMatchObject({
        untrusted: { reasons: ["belongs to another user of this machine"] },
      });
      await trust(file, world);
      expect(await loadConfig({ file, named: false }, world)).toHaveProperty("config");
    },
  );

  it("does not leave its folder through a link", async () => {
    symlinkSync(join(root, "outside"), join(folder, "link"));
    const config = await load("mounts: { d: { source: file, root: docs }, link: { source: file, root: link } }", found);
    expect(config.mounts.map(({ name }) => name)).toEqual(["d"]);
  });

  it("does not read a file outside its folder, not even through a link", async () => {
    writeFileSync(join(root, "outside/token"), "stolen-secret");
    writeFileSync(join(folder, "token"), "own-token");
    symlinkSync(join(root, "outside/token"), join(folder, "linked"));
    for (const path of ["../outside/token", join(root, "outside/token")]) {
      const config = await load(referring(path), found);
      expect(config.mounts.map(({ name }) => name)).toEqual(["d"]);
      expect(JSON.stringify(config.mounts)).not.toContain("stolen");
      expect(asksFor(config.withheld[0]!)).toMatch(
        /^reads the file ".*", outside its own folder, for mounts\.m\.resources\.a$/,
      );
    }
    for (const [path, said] of [
      ["token", 'reads the file "token" for'],
      ["linked", 'reads the file "linked" for'],
    ] as const) {
      const config = await load(referring(path), found);
      expect(config.mounts.map(({ name }) => name)).toEqual(["d"]);
      expect(config.redact("stolen-secret own-token")).toBe("stolen-secret own-token");
      expect(asksFor(config.withheld[0]!)).toContain(said);
    }
    // The trust prompt shows the target of the link.
    const [asked] = await permissionsAsked(write(referring("linked")), world);
    expect(asked!.reasons).toEqual([
      `reads the file "linked", which leads to ${JSON.stringify(join(root, "outside/token"))}, outside its own folder, for mounts.m.resources.a`,
    ]);
    expect((await load(referring("linked"))).redact("stolen-secret")).toBe("••••");
  });

  it("does not serve what a folder keeps to itself, but for the skills of a host", async () => {
    for (const name of [".git", ".claude/skills"]) mkdirSync(join(folder, name), { recursive: true });
    const config = await load(
      `mounts:
  skills: { source: file, root: .claude/skills }
  a: { source: file, root: .git }
  b: { source: file, root: docs, hidden: true }
  c: { source: file, root: docs, ignore: false }
  d: { source: file, root: docs, allow: [.env] }
  e: { source: skills, roots: [.claude/skills] }
  f: { source: skills, root: .claude/skills, roots: [.git/skills] }`,
      found,
    );
    expect(config.mounts.map(({ name }) => name)).toEqual(["skills", "e"]);
    expect(config.withheld.flatMap(({ reasons }) => reasons)).toEqual([
      'serves the hidden folder ".git", for mounts.a',
      "serves hidden names, for mounts.b",
      "serves what git ignores, for mounts.c",
      'serves ".env" even if hidden, ignored or a secret by its name, for mounts.d',
      'serves the hidden folder ".git/skills", for mounts.f',
    ]);
  });

  it("serves what tables of a database file look like, and neither rows nor a database elsewhere", async () => {
    const config = await load(
      `mounts:
  a: { source: sqlite, path: app.db }
  b: { source: sqlite, path: data.db, rows: true }
  c: { source: sqlite, path: .state/app.db }
  d: { source: postgres, url: "postgres://me:pl/anted@db.example/shop", password: plain-secret }
  e: { source: postgres, url: "postgres://me:planted@db.example/shop" }
  f: { source: s3, buckets: [b], accessKeyId: me, secretAccessKey: plain-secret, sessionToken: plain-secret }`,
      found,
    );
    expect(config.mounts.map(({ name }) => name)).toEqual(["a"]);
    const said = config.withheld.flatMap(({ reasons }) => reasons);
    expect(said.slice(0, 2)).toEqual([
      'serves rows of "data.db", for mounts.b',
      'serves the hidden file ".state/app.db", for mounts.c',
    ]);
    expect(config.withheld[3]!.shown).toEqual(['url: "postgres://me:••••@db.example/shop"', 'source: "postgres"']);
    expect(JSON.stringify([config.withheld, config.shown])).not.toMatch(/:planted|plain-secret/);
    expect(JSON.stringify((await load("mounts: { f: { source: s3, accessKeyId: me, secretAccessKey: plain-secret } }")).shown)).toMatch(/"secretAccessKey":"••••"/); // prettier-ignore
  });

  it("may not use a source that could run or reach anything, and shows it as it is written", async () => {
    const opened: unknown[] = [];
    const program = defineSource({
      name: "program",
      summary: "What a program prints",
      scheme: "program",
      options: (z) => z.object({ command: z.string() }),
      async open(options) {
        opened.push(options);
        return createMemory({}).source;
      },
    });
    const registry = { ...sources, program: async () => ({ default: program }) };
    const text = 'mounts: { d: { source: file, root: docs }, p: { source: program, command: "rm ${env:SECRET}" } }';
    const config = await load(text, { ...found, registry });
    expect(config.mounts.map(({ name }) => name)).toEqual(["d"]);
    expect(config.withheld.flatMap(({ reasons }) => reasons)).toEqual([
      'reads the environment variable "SECRET" for mounts.p.command',
      'uses the source "program", which starts "rm ${env:SECRET}", for mounts.p',
    ]);
    expect(config.withheld[0]!.shown).toEqual(['command: "rm ${env:SECRET}"', 'source: "program"']);
    const file = write(text);
    await trust(file, { ...world, registry });
    expect((await load(text, { ...found, registry })).mounts).toHaveLength(2);
    expect((await load(text.replace("rm", "rm -r"), { ...found, registry })).mounts).toHaveLength(1);
    expect(opened).toEqual([]);
  });
});

describe("a config in TypeScript", () => {
  const name = "pressmark.config.ts";
  it("is run when it was named", async () => {
    const config = await load(marking("named"), { name });
    expect(config.mounts[0]!.options).toMatchObject({ root: join(folder, "docs") });
    expect(ran()).toBe(true);
  });

  it("is not run when it was merely found, nor to find out what it asks for", async () => {
    const file = write(marking("found"), name);
    expect(await loadConfig({ file, named: false }, world)).toMatchObject({
      untrusted: { reasons: ["runs pressmark.config.ts as a program, as it is now"] },
    });
    expect(await permissionsAsked(file, world)).toHaveLength(1);
    expect(ran()).toBe(false);
  });

  it("is run once it is trusted, until it changes", async () => {
    const file = write(marking("one"), name);
    await trust(file, world);
    expect((await load(marking("one"), { name, named: false })).mounts).toHaveLength(1);
    rmSync(join(root, "ran"));
    await expect(load(marking("two"), { name, named: false })).rejects.toThrow("untrusted: runs");
    expect(ran()).toBe(false);
  });

  it("is run again when it has changed", async () => {
    await load(marking("one"), { name });
    const config = await load(marking("two").replace('"docs"', '"."'), { name });
    expect(config.mounts[0]!.options).toMatchObject({ root: folder });
  });

  it("has problems by key, without a line, and reports that it failed", async () => {
    expect(await problems('export default { mounts: { docs: { source: "file", rot: "x" } } };', name)).toEqual([
      'pressmark.config.ts mounts.docs.rot: unknown option; did you mean "root"?',
    ]);
    expect(await problems('throw new Error("oh no");', name)).toEqual(["pressmark.config.ts: failed to run: oh no"]);
    expect(await problems("export const config = {};", name)).toEqual([
      "pressmark.config.ts: must export the config as its default export",
    ]);
  });
});

describe("trust", () => {
  it("is readable by its owner only, and can be revoked", async () => {
    const file = write("server: { host: 0.0.0.0 }");
    const store = createTrustStore(world.stateFolder);
    await trust(file);
    const kept = join(world.stateFolder, "trusted");
    expect(statSync(kept).mode & 0o777).toBe(0o700);
    const [only] = readdirSync(kept);
    expect(statSync(join(kept, only!)).mode & 0o777).toBe(0o600);
    expect(store.read(file).parts.size).toBe(1);
    expect(store.forget(file)).toBe(true);
    expect(store.forget(file)).toBe(false);
    expect(store.read(file).parts.size).toBe(0);
  });

  it("that cannot be read is none", () => {
    const file = write("");
    const store = createTrustStore(world.stateFolder);
    store.grant(file, [{ part: "config", written: {}, found: {} }]);
    const [only] = readdirSync(join(world.stateFolder, "trusted"));
    writeFileSync(join(world.stateFolder, "trusted", only!), "{");
    expect(store.read(file).parts.size).toBe(0);
  });

  it("comes with the command to run", () => {
    expect(trustCommand("/a/b/pressmark.config.ts", "/a/b")).toBe("pressmark trust");
    expect(trustCommand("/a/b/pressmark.config.ts", "/a/b/c")).toBe("pressmark trust ..");
    expect(trustCommand("/a/my project/pressmark.config.ts", "/a")).toBe('pressmark trust "my project"');
  });
});

it("a folder's name becomes one that a mount may have", () => {
  expect(plainName("/a/my project!")).toBe("my-project-");
  expect(plainName("/a/.hidden")).toBe("hidden");
  expect(plainName("/")).toBe("files");
  expect(plainName("/日本語")).toBe("日本語");
});

it("no option of a source has the name of one that every mount has, and each path is declared as one", async () => {
  const { z } = await import("zod");
  const common = Object.keys(mountSchema(z).shape);
  for (const open of Object.values<Registry[string]>(sources)) {
    const { default: definition } = await open();
    const json = z.toJSONSchema((definition.options as (zod: typeof z) => ReturnType<typeof z.object>)(z), {
      io: "input",
    });
    const options = Object.entries((json.properties ?? {}) as Record<string, { format?: string }>);
    expect(options.map(([name]) => name).filter((name) => common.includes(name))).toEqual([]);
    for (const [name, { format }] of options)
      if (/^(?:root|path|folder|file)$/i.test(name))
        expect([definition.name, name, format]).toEqual([definition.name, name, "path"]);
  }
});
