import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Config } from "./config.ts";
import { findSource } from "./find-source.ts";
import { grantPermissions, permissionsAsked } from "./grant-permissions.ts";
import { type ConfigContext, loadConfig } from "./load-config.ts";

let folder: string;
let world: ConfigContext;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-foreign-")));
  mkdirSync(join(folder, "project"));
  world = { from: join(folder, "project"), env: {}, stateFolder: join(folder, "state") };
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const file = join(folder, "project", name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

const at = "node_modules/pressmark-source-weather";
const yaml = "mounts:\n  sky:\n    source: pressmark-source-weather\n    city: 札幌\n";

/** A definition that writes a file when it runs. */
function weather(more = "", mark = "ran"): string {
  return `process.getBuiltinModule("node:fs").writeFileSync(${JSON.stringify(join(folder, mark))}, "");
    const definition = {
      name: "weather", summary: "Weather", scheme: "weather",
      options: (z) => z.object({ city: z.string() }),
      open: async () => ({ list: async () => ({ items: [] }), read: async () => [] }),
      ${more}
    };`;
}

function install(version: string, files: Readonly<Record<string, string>>, more: object = {}, to = at): void {
  write(`${to}/package.json`, JSON.stringify({ version, type: "module", exports: "./index.js", ...more }));
  for (const [name, text] of Object.entries(files)) write(`${to}/${name}`, text);
}

const ran = (mark = "ran") => existsSync(join(folder, mark));

async function load(named: boolean, text = yaml): Promise<Config> {
  const loaded = await loadConfig({ file: write("pressmark.config.yaml", text), named }, world);
  if (!("config" in loaded)) throw new Error("a config in YAML needs no trust as a whole");
  return loaded.config;
}

/** Loads it as a stranger's config, beside a mount that needs no trust. */
const found = (text = yaml) => load(false, `${text}  here:\n    source: memory\n    resources: { a: b }\n`);

async function trust(): Promise<void> {
  const file = join(folder, "project", "pressmark.config.yaml");
  await grantPermissions(file, await permissionsAsked(file, world), world);
}

const names = ({ mounts }: Config) => mounts.map(({ name }) => name);
const outdated = ({ withheld }: Config) => withheld.map((each) => each.outdated);
const problems = ({ faulty }: Config) => faulty.flatMap((each) => each.problems);

describe("a source of a package", () => {
  it("runs once it is trusted, and its options are checked as those of any other", async () => {
    install("1.2.0", { "index.js": `${weather()} export default definition;` });
    const before = await found();
    expect(names(before)).toEqual(["here"]);
    expect(before.withheld.flatMap(({ reasons }) => reasons)).toEqual([
      'runs the package pressmark-source-weather, version 1.2.0, in "node_modules/pressmark-source-weather", and what it depends on, as a program, for mounts.sky.source',
    ]);
    await permissionsAsked(join(folder, "project/pressmark.config.yaml"), world);
    expect(ran()).toBe(false);
    await trust();
    const after = await found();
    expect(after.mounts[1]).toMatchObject({ name: "sky", options: { city: "札幌" }, definition: { name: "weather" } });
    expect(problems(await load(true, yaml.replace("city:", "town:")))).toEqual([
      expect.stringMatching(/mounts\.sky\.city: is missing/),
      expect.stringMatching(/mounts\.sky\.town: unknown option/),
    ]);
  });

  it("is trusted again after an upgrade, which names both versions, and needs a restart", async () => {
    install("1.2.0", { "index.js": `${weather()} export default definition;` });
    await found();
    await trust();
    expect(names(await found())).toEqual(["here", "sky"]);
    install("1.3.0", { "index.js": `${weather("", "ran-again")} export default definition;` });
    const upgraded = await found();
    expect(names(upgraded)).toEqual(["here"]);
    expect(outdated(upgraded)).toEqual([
      "mounts.sky changed since it was trusted: the version of pressmark-source-weather (was 1.2.0, is 1.3.0), the code of pressmark-source-weather",
    ]);
    await trust();
    expect(problems(await found())).toEqual([
      expect.stringMatching(/"pressmark-source-weather" has changed since this process loaded it; restart Pressmark/),
    ]);
    expect(ran("ran-again")).toBe(false);
  });

  it.each([
    ["a file that it imports", "the code", () => void write(`${at}/lib/rain.js`, "export const rain = 2;")],
    ["a file that its imports import", "the code", () => void write(`${at}/lib/deep.cjs`, "exports.deep = 2;")],
    ["a file that nothing seems to import", "the code", () => void write(`${at}/lib/data.txt`, "2")],
    ["what its names mean", "the code", () => install("1.2.0", {}, { imports: { "#rain": "./lib/rain.js" } })],
    ["which of its files runs", "the code", () => install("1.2.0", {}, { exports: "./lib/rain.js" })],
    ["its version alone", "the version", () => install("1.2.1", {})],
    [
      "the place that its link leads to",
      "the folder",
      () => {
        const [old, other] = [join(folder, "project", at), join(folder, "project", "packages/weather")];
        mkdirSync(dirname(other), { recursive: true });
        renameSync(old, other);
        symlinkSync(other, old);
      },
    ],
  ])("does not run after a change of %s", async (_what, changed, change) => {
    const helper = 'import "./deep.cjs"; export const rain = 1;';
    install("1.2.0", {
      "index.js": `import { rain } from "./lib/rain.js"; ${weather()} export default definition;`,
      "lib/rain.js": helper,
      "lib/deep.cjs": "exports.deep = 1;",
      "lib/data.txt": "1",
    });
    await found();
    await trust();
    expect(names(await found())).toEqual(["here", "sky"]);
    rmSync(join(folder, "ran"));
    change();
    expect(outdated(await found())).toEqual([
      expect.stringContaining(`mounts.sky changed since it was trusted: ${changed} of pressmark-source-weather`),
    ]);
    expect(ran()).toBe(false);
  });

  it("with more files than can be reviewed cannot be trusted", async () => {
    install("1.2.0", { "index.js": `${weather()} export default definition;` });
    for (let index = 0; index <= 5000; index += 1) write(`${at}/many/${index}`, "");
    await found();
    const [permission] = await permissionsAsked(join(folder, "project/pressmark.config.yaml"), world);
    expect(permission?.refused).toBe("has a package of more than 5000 files or 64 MiB");
    expect(ran()).toBe(false);
  });

  it("whose folder contains a link to another folder cannot be trusted", async () => {
    install("1.2.0", { "index.js": `${weather()} export default definition;`, "lib/a.js": "" });
    symlinkSync("lib", join(folder, "project", at, "inside"));
    await found();
    const asked = () => permissionsAsked(join(folder, "project/pressmark.config.yaml"), world);
    expect((await asked())[0]?.refused).toBeUndefined();
    symlinkSync(folder, join(folder, "project", at, "lib/outside"));
    expect((await asked())[0]?.refused).toBe('has a package whose link "lib/outside" leads to a folder outside of it');
  });

  it("is shown with its real folder if that is outside of the project", async () => {
    install("1.2.0", { "index.js": `${weather()} export default definition;` }, {}, `../${at}`);
    const [permission] = (await found()).withheld;
    expect(permission?.reasons.join("\n")).toContain(`in ${JSON.stringify(join(folder, at))}`);
    expect(permission?.reasons.join("\n")).toContain("outside its own folder, for mounts.sky.source");
  });

  it("that is replaced while it runs is not used", async () => {
    const next = JSON.stringify(join(folder, "project", at, "index.js"));
    install("1.2.0", {
      "index.js": `process.getBuiltinModule("node:fs").appendFileSync(${next}, "// replaced"); ${weather()} export default definition;`,
    });
    const looked: string[] = [];
    const definition = await findSource("pressmark-source-weather", ["mounts", "sky", "source"], {
      registry: {},
      folder: join(folder, "project"),
      isReferred: () => false,
      mayRun: (_file, bytes) => looked.push(Buffer.from(bytes).toString()) > 0 && looked.at(-1) === looked[0],
      refuse: (...refused) => expect(refused).toEqual([]),
    });
    expect(ran()).toBe(true);
    expect(looked.map((text) => text.endsWith("// replaced"))).toEqual([false, true]);
    expect(definition).toBeUndefined();
  });

  it.each([
    ["in CommonJS", { type: "commonjs" }, "module.exports = definition;"],
    ["compiled to CommonJS", { type: "commonjs" }, "exports.__esModule = true; exports.default = definition;"],
  ])("may be written %s", async (_what, more, exported) => {
    install("1.0.0", { "index.js": `${weather()} ${exported}` }, more);
    expect(names(await load(true))).toEqual(["sky"]);
  });

  it("may be one of several exports of a scoped package", async () => {
    const exported = { exports: { "./weather": "./index.js" } };
    install("1.0.0", { "index.js": `${weather()} export default definition;` }, exported, "node_modules/@acme/tools");
    expect(names(await load(true, yaml.replace("pressmark-source-weather", '"@acme/tools/weather"')))).toEqual(["sky"]);
  });

  it("that is not installed is an absence, which an optional mount allows", async () => {
    const { faulty } = await load(true, `${yaml}    optional: true\n`);
    expect(faulty).toMatchObject([{ name: "sky", isExpected: true }]);
    expect(faulty[0]?.problems).toEqual([
      `pressmark.config.yaml:3:13 mounts.sky.source: the package "pressmark-source-weather" is not installed in this project; if you trust it, run in the config's folder: npm install pressmark-source-weather`,
    ]);
  });

  it("is not what a misspelt name or a path without a dot means", async () => {
    write("sources/weather.ts", "");
    expect(problems(await load(true, yaml.replace("pressmark-source-weather", "sources/weather.ts")))).toEqual([
      expect.stringMatching(/unknown source "sources\/weather\.ts"; did you mean "\.\/sources\/weather\.ts"\?/),
    ]);
    install("1.0.0", { "index.js": `${weather()} export default definition;` }, {}, "node_modules/fiel");
    expect(problems(await load(true, yaml.replace("pressmark-source-weather", "fiel")))).toEqual([
      expect.stringMatching(/unknown source "fiel"; did you mean "file"\?/),
    ]);
    expect(ran()).toBe(false);
  });

  it.each([
    ["no default export", "export {};", /must be a source made with defineSource, as its default export/],
    ["another default export", "export default 7;", /must be a source made with defineSource, as its default export/],
    ["the name of ours", ["...{ name: 'file' },"], /has the name of the built-in source "file"; rename it/],
    ["no scheme of a URI", ["...{ scheme: 'a b' },"], /its "scheme" is "a b", which is no scheme of a URI/],
    ["a text of secrets", ["referencesOnly: 'token',"], /its "referencesOnly" is not a list of names/],
    ["no function", ["usesCredentials: true,"], /its "usesCredentials" is not a function/],
    ["options that fail", ["...{ options() { throw new Error('x'); } },"], /has no valid "options"/],
    ["options of another kind", ["...{ options: () => ({}) },"], /has no valid "options"/],
    ["options without a type", ["...{ options: () => ({ _zod: 1 }) },"], /cannot be checked/],
    [
      "a check that fails",
      ["...{ options: (z) => z.looseObject({}).refine(() => { throw new Error('no check'); }) },"],
      /cannot be checked: no check/,
    ],
    [
      "a name that fails",
      "export default { get name() { throw new Error('no name'); } };",
      /cannot be checked: no name/,
    ],
    ["a reserved scheme", ["...{ scheme: 'https' },"], /has the scheme "https", which is reserved; use another/],
    [
      "a reserved base",
      ["base: () => 'File:///etc/',"],
      /answers for "File:\/\/\/etc\/", but the scheme "File" is reserved/,
    ],
    [
      "a reserved alias",
      ["aliases: () => ['pressmark://'],"],
      /answers for "pressmark:\/\/", but the scheme "pressmark" is/,
    ],
    ["aliases that fail", ["aliases() { throw new Error('no alias'); },"], /cannot be checked: no alias/],
    ["a base of another kind", ["base: () => 7,"], /has a "base" or "aliases" that return no URI prefix/],
    ["an error", "throw new Error('no umbrella');", /failed to run: no umbrella/],
    ["an error that cannot be shown", "throw { toString() { throw 1; } };", /it threw a value that cannot be shown/],
  ])("with %s is refused", async (_what, text, says) => {
    const program = typeof text === "string" ? text : `${weather(text[0])} export default definition;`;
    install("1.0.0", { "index.js": program });
    const config = await load(true, `${yaml}  here:\n    source: memory\n    resources: { a: b }\n`);
    expect(names(config)).toEqual(["here"]);
    const [line] = problems(config);
    expect(line).toMatch(says);
    expect(line).toMatch(/^pressmark\.config\.yaml:3:13 mounts\.sky\.source/);
  });

  it("that does not finish loading is left out", async () => {
    install("1.0.0", { "index.js": "await new Promise(() => {}); export default 7;" });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const loading = load(true);
      await vi.waitUntil(() => vi.getTimerCount() > 0, { timeout: 20_000 });
      await vi.advanceTimersByTimeAsync(30_000);
      expect(problems(await loading)).toEqual([
        expect.stringMatching(/"pressmark-source-weather" did not finish loading within 30 s/),
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("comes after the built-in ones, which keep the URIs that it shares with them", async () => {
    install("1.0.0", { "index.js": `${weather()} export default definition;` });
    expect(names(await load(true, `${yaml}  here:\n    source: memory\n    resources: { a: b }\n`))).toEqual([
      "here",
      "sky",
    ]);
  });
});
