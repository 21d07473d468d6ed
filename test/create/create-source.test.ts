/** `npm create pressmark-source`: what it refuses, and what becomes of a package that it writes. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { reservedSchemes } from "../../src/config/mount-base.ts";
import { sources } from "../../src/sources/index.ts";
import { createProject } from "../package/project.ts";

const root = join(import.meta.dirname, "../..");
const program = join(root, "create-pressmark-source/index.js");
const compiler = join(root, "node_modules/typescript/bin/tsc");

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-create-")));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program with Node; returns all that it prints. Fails if it does. */
function run(cwd: string, words: readonly string[], { env = {}, input = "" } = {}): string {
  const options = { cwd, encoding: "utf8", input, env: { ...inherited, ...env } } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, words, options);
  if (status !== 0) throw new Error(`${words.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
  return stdout + stderr;
}

// Otherwise the runner of Node would take part in the run of vitest.
const { NODE_OPTIONS: _options, VITEST: _vitest, ...inherited } = process.env;

const create = (...words: readonly string[]) =>
  spawnSync(process.execPath, [program, ...words], { cwd: folder, encoding: "utf8" });
const manifestOf = (at: string) =>
  JSON.parse(readFileSync(join(at, "package.json"), "utf8")) as Record<string, unknown>;

describe("npm create pressmark-source", () => {
  it.each([
    [["notes"], "pressmark-source-notes", "pressmark-source-notes"],
    [["pressmark-source-my-notes2"], "pressmark-source-my-notes2", "pressmark-source-my-notes2"],
    [["@acme/notes", "--yes"], "pressmark-source-notes", "@acme/pressmark-source-notes"],
    [["--yes"], "pressmark-source-my-backend", "pressmark-source-my-backend"],
    [["my-backend2"], "pressmark-source-my-backend2", "pressmark-source-my-backend2"],
    [["@my-backend/foo"], "pressmark-source-foo", "@my-backend/pressmark-source-foo"],
  ])("with %j writes %s", (words, written, name) => {
    expect(create(...words).stdout).toMatch(new RegExp(`^${written} is ready\\. Next:\n\n {2}cd ${written}\n`));
    expect(readdirSync(folder)).toEqual([written]);
    expect(readdirSync(join(folder, written)).sort()).toEqual([
      ".gitignore",
      "LICENSE",
      "README.md",
      "package.json",
      "src",
      "tsconfig.json",
    ]);
    expect(manifestOf(join(folder, written))["name"]).toBe(name);
    const source = readFileSync(join(folder, written, "src/index.ts"), "utf8");
    expect(source).toContain(`name: "${written.replace("pressmark-source-", "")}"`);
    expect(readFileSync(join(folder, written, "README.md"), "utf8")).toContain(`source: "${name}"\n`);
  });

  it.each([
    "../notes",
    "/tmp/notes",
    ".",
    "..",
    "",
    "a/b",
    "@acme",
    "@acme/",
    "@acme/../notes",
    "@../notes",
    "@a/b/c",
    "Notes",
    "1notes",
    "no tes",
    "notes-",
    "no--tes",
    "no_tes",
    "pressmark-source-",
    "notes\n",
    "メモ",
    "n".repeat(65),
  ])("refuses the name %j", (name) => {
    const { status, stderr } = create(name);
    expect(stderr).toMatch(/^create-pressmark-source: ".*" is not a valid name; use lowercase letters/);
    expect(status).toBe(1);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("refuses the names of all built-in sources, their schemes, and reserved schemes", async () => {
    const schemes = await Promise.all(Object.values(sources).map(async (load) => (await load()).default.scheme));
    const taken = [...new Set([...Object.keys(sources), ...schemes, ...reservedSchemes].map(String))].sort();
    const list = /"(about [^"]*)"/.exec(readFileSync(program, "utf8"))?.[1];
    expect(list?.split(" ")).toEqual(taken);
    expect(create("redis").stderr).toMatch(/^create-pressmark-source: "redis" is the name of a built-in source/);
    expect(create("@acme/http").status).toBe(1);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("refuses what it does not know, and to go on without a name", () => {
    expect(create("--force", "notes").stderr).toMatch(/unknown option "--force"/);
    expect(create("notes", "more").stderr).toMatch(/one name is enough, not 2/);
    expect(create().stderr).toMatch(/name the source: npm create pressmark-source my-backend/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("writes into an empty folder, and never over a file or through a link", () => {
    const at = join(folder, "pressmark-source-notes");
    symlinkSync(tmpdir(), at);
    expect(create("notes").stderr).toMatch(/pressmark-source-notes exists and is not a folder/);
    rmSync(at);
    mkdirSync(at);
    writeFileSync(join(at, "mine"), "");
    expect(create("notes").stderr).toMatch(/pressmark-source-notes exists and is not empty/);
    expect(readdirSync(at)).toEqual(["mine"]);
    rmSync(join(at, "mine"));
    expect(create("notes").status).toBe(0);
  });

  it("asks for the version of Pressmark that it belongs to", () => {
    const { version } = manifestOf(root);
    expect(manifestOf(dirname(program))["version"]).toBe(version);
    create("notes");
    const written = manifestOf(join(folder, "pressmark-source-notes"));
    expect(written["peerDependencies"]).toEqual({ pressmark: `^${String(version)}` });
    expect(written["devDependencies"]).toMatchObject({ pressmark: `^${String(version)}` });
    expect(written["engines"]).toEqual(manifestOf(root)["engines"]);
  });
});

// It starts a dozen programs, the compiler among them.
const timeout = 240_000;
it("a package that it writes builds, keeps the contract, and is served once it is trusted", { timeout }, () => {
  using project = createProject("@types/node");
  const at = join(project.folder, "pressmark-source-notes");
  run(project.folder, [program, "notes"]);
  run(at, [compiler]);
  expect(run(at, ["--test", "--test-reporter=spec", "src/index.test.ts"])).toMatch(/\bpass [1-9]\d+\n[^]*\bfail 0\n/);

  // As npm would install what is published.
  execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", project.folder], { cwd: at });
  execFileSync("tar", ["-xzf", "pressmark-source-notes-0.1.0.tgz"], { cwd: project.folder });
  rmSync(at, { recursive: true });
  const installed = join(project.folder, "node_modules/pressmark-source-notes");
  renameSync(join(project.folder, "package"), installed);
  expect(readdirSync(join(installed, "dist")).sort()).toEqual(["index.d.ts", "index.js"]);

  project.write("notes.json", JSON.stringify({ "ideas/one.md": "plant a tree" }));
  project.write(
    "pressmark.config.yaml",
    "mounts:\n  mine:\n    source: pressmark-source-notes\n    file: ./notes.json\n  other: { source: memory, resources: { a: b } }\n",
  );
  const env = { HOME: folder, XDG_STATE_HOME: join(folder, "state"), XDG_CACHE_HOME: join(folder, "cache") };
  const installedAt = join(project.folder, "node_modules/pressmark");
  const pressmark = (words: readonly string[], { from = installedAt, input = "" } = {}) =>
    run(project.folder, [join(from, "bin/pressmark.js"), ...words], { env, input });
  const reading = [
    {
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
    },
    { method: "notifications/initialized" },
    { id: 2, method: "resources/read", params: { uri: "notes://mine/ideas/one.md" } },
  ].map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

  expect(pressmark(["stdio"], { input: reading.join("") })).not.toContain("plant a tree");
  expect(pressmark(["trust", "--yes"])).toMatch(
    /runs the package pressmark-source-notes, version 0\.1\.0, in "node_modules\/pressmark-source-notes"/,
  );
  expect(pressmark(["stdio"], { input: reading.join("") })).toContain('"text":"plant a tree"');
  expect(pressmark(["doctor"])).toMatch(/ok +mount mine: 1 resources, listed, read and watched/);
  // The package throws errors of the copy beside it, whichever copy runs it.
  for (const from of [installedAt, root])
    expect(() => pressmark(["read", "notes://mine/none"], { from })).toThrow(/no resource at "notes:\/\/mine\/none"/);
});
