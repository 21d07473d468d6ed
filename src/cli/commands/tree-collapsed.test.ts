import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStand, type Stand } from "../test-command.ts";

let stand: Stand;
const tree = (...words: readonly string[]) => stand.run(["tree", ...words]);

beforeAll(() => {
  stand = createStand();
  stand.write("docs/a.md", "12");
  stand.write(
    "pressmark.config.yaml",
    `mounts:
  files: { source: file, root: docs }
  history: { source: git, root: . }
  rows: { source: memory, resources: { ${Array.from({ length: 1001 }, (_, at) => `r/${1000 + at}.txt: x`).join(", ")} } }
`,
  );
  const git = (...words: readonly string[]) => execFileSync("git", words, { cwd: stand.folder });
  git("init", "-q", "-b", "main");
  git("add", "docs");
  git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "first");
  for (const name of ["v1", "v2"]) git("tag", name);
});

afterAll(() => stand.remove());

describe("tree of a project with a history", () => {
  it("collapses refs, and says on one line how to see them", async () => {
    const { code, out, err } = await tree("git://history");
    expect(code).toBe(0);
    expect(out).toBe(`git://history
├── branches
├── log
├── status
├── tags
└── tree/  collapsed

1 directory, 4 files, 0 B shown
`);
    expect(err).toBe(
      'pressmark: collapsed: "git://history/tree", views of the same content; to open one, name it: pressmark tree git://history/tree; --all shows everything\n',
    );
  });

  it("opens a view that the URI names, and everything with --all", async () => {
    const refs = await tree("git://history/tree");
    expect(refs.out).toContain("├── HEAD/  collapsed\n├── main/  collapsed\n");
    expect(refs.err).toContain('"git://history/tree/HEAD" and 3 other directories');
    expect(await tree("git://history/tree/v1")).toMatchObject({
      err: "",
      out: "git://history/tree/v1\n└── docs/  1\n    └── a.md  2 B\n\n1 directory, 1 file, 2 B\n",
    });
    const all = await tree("git://history", "--all");
    expect(all.err).toBe("");
    expect(all.out.match(/a\.md/g)).toHaveLength(4);
  });

  it("marks collapsed directories in JSON", async () => {
    const { out } = await tree("git://history", "--json");
    expect(JSON.parse(out.trimEnd().split("\n").at(-1)!)).toMatchObject({ name: "tree", collapsed: true });
  });

  it("shows the first 1,000 entries of a large directory, and all with --all", async () => {
    const { out, err } = await tree("memory://rows");
    expect(out).toContain("└── r/  1,000+\n");
    expect(out).toContain("1 directory, 1,000 files, 1.0 kB shown\n");
    expect(err).toBe(
      'pressmark: only the first 1,000 entries are shown of "memory://rows/r"; --all shows everything\n',
    );
    expect((await tree("memory://rows/r")).err).toContain("only the first 1,000 entries");
    const all = await tree("memory://rows", "--all");
    expect(all.err).toBe("");
    expect(all.out).toContain("1 directory, 1,001 files, 1.0 kB\n");
  });

  it("names all that it leaves out on one line, of several mounts", async () => {
    const { err } = await tree();
    expect(err.trimEnd().split("\n")).toHaveLength(1);
    expect(err).toContain("git://history/tree");
    expect(err).toContain("memory://rows/r");
  });
});
