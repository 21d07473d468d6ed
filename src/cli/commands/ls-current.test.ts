import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { createStand, type Stand } from "../test-command.ts";

let stand: Stand;

beforeAll(() => {
  stand = createStand();
  stand.write("README.md", "top");
  stand.write("docs/README.md", "docs");
  stand.write("docs/guide/one.md", "1");
  stand.write("notes/n.md", "n");
  stand.write("docs/.hidden/x.md", "x");
  stand.write(
    "pressmark.config.yaml",
    `mounts:
  files: { source: file, root: . }
  notes: { source: file, root: notes, scheme: notes }
  texts: { source: memory, resources: { a.txt: x } }
`,
  );
  symlinkSync(join(stand.folder, "docs"), join(stand.folder, "../linked"));
});

afterAll(() => stand.remove());

const from = (folder: string, words: readonly string[], options = {}) =>
  stand.run(words, { from: join(stand.folder, folder), ...options });
const urisOf = (...paths: readonly string[]) => paths.map((path) => `${stand.base}${path}\n`).join("");

describe("ls without an argument", () => {
  it.each([
    [".", ["README.md", "docs", "notes", "pressmark.config.yaml"]],
    ["docs", ["docs/README.md", "docs/guide"]],
    ["docs/guide", ["docs/guide/one.md"]],
    ["../linked", ["docs/README.md", "docs/guide"]],
  ])("lists the children of the current folder, in %s", async (folder, paths) => {
    expect(await from(folder, ["ls"])).toMatchObject({ code: 0, err: "", out: urisOf(...paths) });
    expect((await from(folder, ["ls", "."])).out).toBe(urisOf(...paths));
  });

  it("uses the innermost mount that contains the folder", async () => {
    expect((await from("notes", ["ls"])).out).toBe("notes://notes/n.md\n");
  });

  it("mentions other mounts on a terminal, and --mounts lists all of them", async () => {
    const { out, err } = await from("docs", ["ls"], { terminal: true });
    expect(out).toBe("README.md  guide/\n");
    expect(err).toBe('pressmark: 2 mounts elsewhere; "pressmark ls --mounts" lists all mounts\n');
    expect((await from("docs", ["ls", "--mounts"])).out).toBe(
      `${stand.base.slice(0, -1)}\nnotes://notes\nmemory://texts\n`,
    );
    expect((await stand.run(["ls", "--mounts", "--all"])).code).toBe(2);
  });

  it("lists everything below with --all, and all mounts at the top of one", async () => {
    expect((await from("docs", ["ls", "--all"])).out).toBe(urisOf("docs/README.md", "docs/guide/one.md"));
    expect((await from(".", ["ls", "--all"])).out).toContain("memory://texts/a.txt\n");
  });

  it("lists the mounts in a folder that no mount contains, and says if a mount hides the folder", async () => {
    const config = ["--config", join(stand.folder, "pressmark.config.yaml")];
    expect((await from("..", ["ls", ...config])).out.split("\n")).toHaveLength(4);
    expect(await from("docs/.hidden", ["ls"])).toMatchObject({
      code: 3,
      out: "",
      err: 'pressmark: this folder is not served (it may be hidden or ignored); "pressmark ls --mounts" lists what is served\n',
    });
  });
});

describe("a path in a folder below the mount", () => {
  it("is one of the current folder with a dot, and where the mount has none of that name", async () => {
    expect((await from("docs", ["read", "./README.md"])).out).toBe("docs");
    expect((await from("docs", ["read", "guide/one.md"])).out).toBe("1");
    expect((await from("docs/guide", ["read", "../README.md"])).out).toBe("docs");
    expect((await from("docs", ["ls", ".."])).out).toBe(urisOf("README.md", "docs", "notes", "pressmark.config.yaml"));
  });

  it("is one of the mount otherwise, and a warning names the other", async () => {
    expect(await from("docs", ["read", "README.md"])).toMatchObject({
      out: "top",
      err: 'pressmark: "README.md" is a path from the top of the mount; for the one in this folder, write "./README.md"\n',
    });
    expect(await from("docs", ["read", "docs/README.md"])).toMatchObject({ out: "docs", err: "" });
  });
});
