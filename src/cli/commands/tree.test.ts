import { chmodSync, mkdirSync, symlinkSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStand, type Stand } from "../test-command.ts";

let stand: Stand;
const tree = (words: readonly string[], options?: Parameters<Stand["run"]>[1]) =>
  stand.run(["tree", ...words], options);

beforeAll(() => {
  stand = createStand();
  stand.write("README.md", "12345");
  stand.write("docs/guide/one.md", "1");
  stand.write("docs/guide/two.md", "22");
  stand.write("docs/index.md", "x".repeat(2000));
  mkdirSync(join(stand.folder, "empty"));
});

afterAll(() => stand.remove());

describe("tree", () => {
  it("shows directories with what is in them, counts and sizes", async () => {
    expect(await tree([])).toMatchObject({
      code: 0,
      err: "",
      out: `${stand.base.slice(0, -1)}
├── README.md  5 B
├── docs/  2
│   ├── guide/  2
│   │   ├── one.md  1 B
│   │   └── two.md  2 B
│   └── index.md  2.0 kB
└── empty/  0

3 directories, 4 files, 2.0 kB
`,
    });
  });

  it("respects --depth and --dirs", async () => {
    expect((await tree(["docs", "--depth", "1"])).out).toBe(`docs
├── guide/  2
└── index.md  2.0 kB

1 directory, 1 file, 2.0 kB
`);
    expect((await tree(["--dirs"])).out.split("\n").slice(1)).toEqual([
      "├── docs/  2",
      "│   └── guide/  2",
      "└── empty/  0",
      "",
      "3 directories",
      "",
    ]);
  });

  it("starts at the current folder below the top of a mount", async () => {
    stand.write("../here.yaml", "mounts: { files: { source: file, root: files } }\n");
    const here = (folder: string) =>
      tree(["--depth", "1", "--config", join(stand.folder, "../here.yaml")], { from: join(stand.folder, folder) });
    expect((await here("docs")).out).toBe(`docs\n├── guide/  2\n└── index.md  2.0 kB\n\n1 directory, 1 file, 2.0 kB\n`);
    expect((await here(".")).out).toContain("README.md");
  });

  it("gives JSON, an object a line", async () => {
    const { out } = await tree(["docs", "--json"]);
    const nodes = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(nodes.map(({ name, depth, children }) => [name, depth, children])).toEqual([
      ["docs", 0, 2],
      ["guide", 1, 2],
      ["one.md", 2, undefined],
      ["two.md", 2, undefined],
      ["index.md", 1, undefined],
    ]);
    expect(nodes[2]).toMatchObject({ uri: `${stand.base}docs/guide/one.md`, size: 1 });
  });

  it("shows the mounts that work beside one that does not, which it names once", async () => {
    const broken = createStand();
    try {
      broken.write("docs/a.txt", "a");
      broken.write("code/b.txt", "b");
      const mounts = `docs: { source: file, root: docs }, away: { source: mcp, url: "http://127.0.0.1:9/mcp" }, code: { source: file, root: code, scheme: code }`;
      broken.write("pressmark.config.yaml", `mounts: { ${mounts} }\n`);
      const words = ["tree", "--config", "pressmark.config.yaml"];
      const [{ code, out, err }, { out: json }] = await Promise.all([
        broken.run(words),
        broken.run([...words, "--json"]),
      ]);
      expect(code).toBe(1);
      expect(out).toContain("docs\n└── a.txt  1 B\n");
      expect(out).toMatch(/away.*  cannot be opened\n/);
      expect(out).toContain("└── b.txt  1 B\n\n0 directories, 2 files");
      expect(err.match(/^pressmark: .*away.*cannot be reached/gm), err).toHaveLength(1);
      expect(json.match(/"name"/g), json).toHaveLength(5);
      expect(json).toMatch(/"depth":0,"failure":"[^"]*cannot be reached/);
    } finally {
      broken.remove();
    }
  });

  it("fails for what is no directory or not there", async () => {
    expect(await tree(["nowhere"])).toMatchObject({ code: 3, out: "" });
    expect(await tree(["README.md"])).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining("is not a directory"),
    });
  });

  it("does not follow a link that leads back, however it does", async () => {
    const linked = createStand();
    try {
      linked.write("a/b/file.txt");
      linked.write("c/file.txt");
      symlinkSync(".", join(linked.folder, "a/self"));
      symlinkSync("../..", join(linked.folder, "a/b/top"));
      symlinkSync("../c", join(linked.folder, "a/c"));
      symlinkSync("../a", join(linked.folder, "c/a"));
      const { code, out, err } = await linked.run(["tree"]);
      expect([code, err]).toEqual([0, ""]);
      expect(out).toContain("└── self/  links to a directory above\n");
      expect(out).toContain("top/  links to a directory above\n");
      expect(out.split("\n").length).toBeLessThan(60);
    } finally {
      linked.remove();
    }
  });

  it("goes down through directories that only look the same", async () => {
    const nested = createStand();
    try {
      const path = Array.from({ length: 20 }, () => "d");
      nested.write(`${path.join("/")}/end.txt`);
      nested.write(`${path.slice(10).join("/")}/half.txt`);
      for (let depth = path.length; depth > 0; depth -= 1)
        utimesSync(join(nested.folder, ...path.slice(0, depth)), 1e9, 1e9);
      const { out } = await nested.run(["tree"]);
      expect(out).toContain("└── end.txt");
      expect(out).not.toContain("leads back");
    } finally {
      nested.remove();
    }
  });

  it("reports a directory that it could not open, and that it is not complete", async () => {
    const closed = createStand();
    // Root can read everything, so the test runs as nobody.
    const isRoot = process.getuid?.() === 0;
    try {
      closed.write("closed/file.txt");
      for (const folder of [closed.folder, dirname(closed.folder)]) chmodSync(folder, 0o755);
      chmodSync(join(closed.folder, "closed"), 0);
      if (isRoot) process.seteuid?.("nobody");
      const { code, out } = await closed.run(["tree"]);
      expect(code).toBe(1);
      expect(out).toContain("closed/  cannot be opened");
    } finally {
      if (isRoot) process.seteuid?.(0);
      chmodSync(join(closed.folder, "closed"), 0o700);
      closed.remove();
    }
  });
});
