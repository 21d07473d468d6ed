import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { boundFiles } from "./bound-files.ts";

let root: string;
let folder: string;
let cwd: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-bound-")));
  folder = join(root, "project");
  cwd = join(folder, "here");
  mkdirSync(cwd, { recursive: true });
  for (const name of ["server.js", "run.sh", "hook.js", "here/server.js", "ca.pem"])
    writeFileSync(join(folder, name), name);
  writeFileSync(join(root, "outside.js"), "outside");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function named(options: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(boundFiles({ options, folder, cwd }).facts).sort();
}

describe("the files that a mount names as its program", () => {
  it.each([
    [{ command: "./run.sh" }, ['"run.sh"']],
    [{ command: "node", args: ["server.js"] }, ['"here/server.js"', '"server.js"']],
    [{ command: "node", args: ["server.js"], cwd: "." }, ['"server.js"']],
    [{ command: "node", args: ["--require=./hook.js", "-e", "0"], cwd: "." }, ['"hook.js"']],
    [{ command: "sh", args: ["-c", "cd / && (./run.sh;node 'hook.js')"], cwd: "." }, ['"hook.js"', '"run.sh"']],
    [{ command: "node", args: ["../outside.js"], cwd: "." }, ['"../outside.js"']],
    [{ command: "node", env: { NODE_OPTIONS: "--import ./hook.js" }, cwd: "." }, ['"hook.js"']],
    [{ url: "postgres://x", ca: "ca.pem", cwd: "." }, ['"ca.pem"']],
    // Found through PATH, and not here.
    [{ command: "server.js", cwd: "." }, []],
    [{ command: "node", args: ["nowhere.js", "", "\0"] }, []],
  ] as const)("are, of %j, %j", (options, expected) => {
    expect(named(options)).toEqual(expected);
  });

  it("are known by their content, and by where a link leads", () => {
    const look = () => boundFiles({ options: { args: ["link.js"] }, folder, cwd }).facts;
    symlinkSync("server.js", join(folder, "link.js"));
    const before = look();
    writeFileSync(join(folder, "server.js"), "another");
    expect(look()).not.toEqual(before);
    rmSync(join(folder, "link.js"));
    symlinkSync("hook.js", join(folder, "link.js"));
    expect(Object.keys(look())).toEqual(['"hook.js"']);
  });

  it("do not include the content of a folder, which is noted", () => {
    expect(boundFiles({ options: { args: ["here", "-x"] }, folder, cwd: folder }).notes).toEqual([
      'names the folder "here", whose content is not part of what is trusted',
    ]);
  });

  it("are refused where they are too large to be looked through, unless they are elsewhere", () => {
    truncateSync(join(folder, "server.js"), 33 * 2 ** 20);
    expect(boundFiles({ options: { args: ["server.js"] }, folder, cwd: folder })).toMatchObject({
      refused: 'names "server.js", which is larger than 32 MiB',
    });
    truncateSync(join(root, "outside.js"), 33 * 2 ** 20);
    expect(boundFiles({ options: { args: ["../outside.js"] }, folder, cwd: folder })).toEqual({
      facts: { '"../outside.js"': "large" },
      notes: [],
    });
  });
});
