import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { configIn, configNames, findConfig, findProject } from "./find-config.ts";

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-find-")));
  mkdirSync(join(root, "home/project/src/deep"), { recursive: true });
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("the config that counts", () => {
  it.each(configNames)("is the nearest one upwards: %s", (name) => {
    writeFileSync(join(root, "home/project", name), "");
    writeFileSync(join(root, "home", name), "");
    expect(findConfig(join(root, "home/project/src/deep"), "/")).toBe(join(root, "home/project", name));
    expect(findConfig(join(root, "home"), "/")).toBe(join(root, "home", name));
  });

  it("is not searched above the home folder", () => {
    writeFileSync(join(root, configNames[0]), "");
    expect(findConfig(join(root, "home/project/src"), join(root, "home"))).toBeUndefined();
    expect(findConfig(join(root, "home/project/src"), "/elsewhere")).toBe(join(root, configNames[0]));
  });

  it("may be in the home folder", () => {
    writeFileSync(join(root, "home", configNames[0]), "");
    expect(findConfig(join(root, "home/project"), join(root, "home"))).toBe(join(root, "home", configNames[0]));
  });

  it("is a file", () => {
    mkdirSync(join(root, "home", configNames[0]));
    expect(configIn(join(root, "home"))).toBeUndefined();
    expect(configIn(join(root, "nowhere"))).toBeUndefined();
  });

  it("is one: two in a folder are refused", () => {
    writeFileSync(join(root, "pressmark.config.yaml"), "");
    writeFileSync(join(root, "pressmark.config.ts"), "");
    expect(() => configIn(root)).toThrow(
      "holds both pressmark.config.yaml and pressmark.config.ts; keep one, or name one with --config",
    );
  });
});

describe("the project", () => {
  it("is the root of the git repository, but not the home folder, also if it is reached through a link", () => {
    const [home, link] = [join(root, "home"), join(root, "link")];
    symlinkSync(home, link);
    const deep = join(home, "project/src/deep");
    mkdirSync(join(home, ".git"));
    writeFileSync(join(root, configNames[0]), "");
    for (const known of [home, link]) {
      expect(findProject(deep, known)).toBe(deep);
      expect(findProject(join(link, "project/src"), known)).toBe(join(link, "project/src"));
      expect(findConfig(deep, known)).toBeUndefined();
    }
    mkdirSync(join(home, "project/.git"));
    expect(findProject(deep, link)).toBe(join(home, "project"));
  });

  it.runIf(process.getuid)("is not a repository of another user", () => {
    const deep = join(root, "home/project/src/deep");
    mkdirSync(join(root, "home/project/.git"));
    const uid = process.getuid!();
    expect(findProject(deep, root, uid)).toBe(join(root, "home/project"));
    expect(findProject(deep, root, uid + 1)).toBe(deep);
  });
});
