import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { defineConfig } from "./define-config.ts";
import { grantPermissions, permissionsAsked } from "./grant-permissions.ts";
import { type ConfigContext, loadConfig } from "./load-config.ts";

let folder: string;
let world: ConfigContext;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-own-source-")));
  mkdirSync(join(folder, "project"));
  world = { from: join(folder, "project"), env: {}, stateFolder: join(folder, "state") };
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const file = join(folder, "project", name);
  writeFileSync(file, text);
  return file;
}

/** A source that writes a file when it runs. */
function weather(more = ""): string {
  return `import { writeFileSync } from "node:fs";
    writeFileSync(${JSON.stringify(join(folder, "ran"))}, "");
    const definition = {
      name: "weather", summary: "Weather", scheme: "weather",
      options: (z) => z.object({ city: z.string() }),
      open: async () => ({ list: async () => ({ items: [{ path: "now" }] }), read: async () => [{ body: { text: "rain" } }] }),
      ${more}
    };`;
}

/** The same with this summary, an import, and the name of a file that it may write. */
function importing(summary: string): string {
  const definition = weather(`...{ summary: ${JSON.stringify(summary)} + more },`);
  return `import { more } from "./helper.ts"; const log = "./weather.log"; ${definition} export default definition;`;
}

const yaml = "mounts:\n  sky:\n    source: ./weather.ts\n    city: 札幌\n";

async function problemsOf(file: string): Promise<readonly string[]> {
  const loaded = await loadConfig({ file, named: true }, world);
  return "config" in loaded ? loaded.config.faulty.flatMap(({ problems }) => problems) : [];
}

describe("a custom source", () => {
  it("is named by its file, and its options are checked as those of any other", async () => {
    write("weather.ts", `${weather()} export default definition;`);
    const loaded = await loadConfig({ file: write("pressmark.config.yaml", yaml), named: true }, world);
    const [mount] = "config" in loaded ? loaded.config.mounts : [];
    expect(mount).toMatchObject({ name: "sky", options: { city: "札幌" }, definition: { name: "weather" } });
    expect(await problemsOf(write("pressmark.config.yaml", yaml.replace("city:", "town:")))).toEqual([
      expect.stringMatching(/3:5 mounts\.sky\.city: is missing/),
      expect.stringMatching(/4:5 mounts\.sky\.town: unknown option/),
    ]);
  });

  it("is not run for a config that was merely found, until it is trusted as it is", async () => {
    const program = write("weather.ts", `${weather()} export default definition;`);
    const file = write("pressmark.config.yaml", `${yaml}  here:\n    source: file\n    root: .\n`);
    const load = async () => {
      const loaded = await loadConfig({ file, named: false }, world);
      if (!("config" in loaded)) throw new Error("the rest of the config needs no trust");
      return loaded.config;
    };
    const before = await load();
    expect(before.mounts.map(({ name }) => name)).toEqual(["here"]);
    expect(before.withheld.flatMap(({ reasons }) => reasons)).toEqual([
      'runs "weather.ts" as a program, as it is now, for mounts.sky.source',
    ]);
    expect(existsSync(join(folder, "ran"))).toBe(false);

    await grantPermissions(file, await permissionsAsked(file, world), world);
    expect((await load()).mounts.map(({ name }) => name)).toEqual(["here", "sky"]);

    writeFileSync(program, `${weather()} export default definition; // another`);
    expect((await load()).mounts.map(({ name }) => name)).toEqual(["here"]);
  });

  it("does not run when its link leads to another of its files", async () => {
    const quiet = weather().slice(weather().indexOf("const definition"));
    write("one.ts", `// "./two.ts"\n${quiet} export default definition;`);
    write("two.ts", `// "./one.ts"\n${weather()} export default definition;`);
    symlinkSync("one.ts", join(folder, "project", "weather.ts"));
    const file = write("pressmark.config.yaml", yaml);
    await grantPermissions(file, await permissionsAsked(file, world), world);
    const before = await loadConfig({ file, named: false }, world);
    expect("config" in before && before.config.mounts).toMatchObject([{ name: "sky" }]);
    expect(existsSync(join(folder, "ran"))).toBe(false);
    rmSync(join(folder, "project", "weather.ts"));
    symlinkSync("two.ts", join(folder, "project", "weather.ts"));
    await loadConfig({ file, named: false }, world);
    expect(existsSync(join(folder, "ran"))).toBe(false);
  });

  it("runs again when it changes, and needs a restart when what it imports has changed", async () => {
    const named = { file: write("pressmark.config.yaml", yaml), named: true };
    const summary = async () => {
      const loaded = await loadConfig(named, world);
      return "config" in loaded ? loaded.config.mounts.map(({ definition }) => definition.summary) : [];
    };
    write("helper.ts", 'export const more = "!";');
    write("weather.ts", importing("Sun"));
    expect(await summary()).toEqual(["Sun!"]);
    write("weather.log", "a line");
    write("weather.ts", importing("Rain"));
    expect(await summary()).toEqual(["Rain!"]);
    write("helper.ts", 'export const more = "?";');
    expect(await problemsOf(named.file)).toEqual([
      expect.stringMatching(
        /mounts\.sky\.source: "\.\/weather\.ts" imports "helper\.ts", which has changed since this process loaded it; restart Pressmark to use it as it is now/,
      ),
    ]);
  });

  it("stands in a config in TypeScript as it is", async () => {
    const file = write(
      "pressmark.config.ts",
      `${weather()} export default { mounts: { sky: { source: definition, city: "那覇" } } };`,
    );
    const loaded = await loadConfig({ file, named: true }, world);
    expect("config" in loaded && loaded.config.mounts).toMatchObject([{ name: "sky", options: { city: "那覇" } }]);
  });

  it.each([
    ["is not there", undefined, /"\.\/weather\.ts" cannot be read/],
    ["is no source", "export default 7;", /must be a source made with defineSource, as its default export/],
    [
      "lacks something",
      "export default { name: 'x', summary: 'x', scheme: 'x', open() {} };",
      /"options" is not a function/,
    ],
    ["fails", "throw new Error('no umbrella');", /failed to run: no umbrella/],
    ["takes one of our names", "FILE", /has the name of the built-in source "file"/],
  ])("that %s is reported at its line", async (_what, text, says) => {
    if (text === "FILE") write("weather.ts", `${weather('...{ name: "file" },')} export default definition;`);
    else if (text !== undefined) write("weather.ts", text);
    const [line] = await problemsOf(write("pressmark.config.yaml", yaml));
    expect(line).toMatch(says);
    expect(line).toMatch(/^pressmark\.config\.yaml:3:13 mounts\.sky\.source/);
  });
});

describe("defineConfig", () => {
  it("knows the options of each source by its name", () => {
    const config = defineConfig({
      mounts: { here: { source: "file", root: ".", maxBytes: 1000 } },
      server: { port: 8080 },
    });
    expect(config.mounts).toHaveProperty("here");
    // @ts-expect-error -- a number is wanted
    defineConfig({ mounts: { here: { source: "file", root: ".", maxBytes: "1000" } } });
    // @ts-expect-error -- there is no such source
    defineConfig({ mounts: { here: { source: "files" } } });
  });
});
