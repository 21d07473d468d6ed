import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createStand, type Stand } from "../test-command.ts";

let stand: Stand;
beforeEach(() => {
  stand = createStand();
  stand.write("README.md", "# Read me\n");
  stand.write("docs/設定.md", "設定\n");
  stand.write("docs/b.md", "B\n");
});
afterEach(() => stand.remove());

function git(...words: readonly string[]): void {
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...words], { cwd: stand.folder });
}

function completeIn(ref: string) {
  const template = "git://files/blob/{ref}{/path*}{?lines,bytes}";
  return stand.run(["complete", template, "path", "", "--given", `ref=${ref}`]);
}

const config = `# ours
mounts:
  all: {source: file,   root: .}   # everything
`;

describe("set", () => {
  it("writes a set into the config, and leaves the rest of it as it is", async () => {
    stand.write("pressmark.config.yaml", config);
    const added = await stand.run([
      "set",
      "add",
      "onboarding",
      "README.md",
      `${stand.base}docs/b.md`,
      "--title",
      "First day",
    ]);
    expect(added).toMatchObject({ code: 0, err: "" });
    expect(added.out).toBe(
      `the set "onboarding" holds 2 resources, and is stored in ${join(stand.folder, "pressmark.config.yaml")}\n`,
    );
    const text = () => readFileSync(join(stand.folder, "pressmark.config.yaml"), "utf8");
    expect(text()).toBe(
      `${config}sets:\n  onboarding:\n    title: First day\n    resources:\n      - README.md\n      - docs/b.md\n`,
    );
    await stand.run(["set", "add", "onboarding", "docs/設定.md", "README.md"]);
    expect(text()).toContain("      - docs/b.md\n      - docs/設定.md\n");
    expect((await stand.run(["set", "list"])).out).toBe("onboarding  First day\n");
    const shown = (await stand.run(["set", "show", "onboarding", "--json"])).out.trim().split("\n");
    expect(shown.map((line) => (JSON.parse(line) as { name: string }).name)).toEqual(["README.md", "b.md", "設定.md"]);
    expect((await stand.run(["read", "set://onboarding", "--json"])).out.trim().split("\n")).toHaveLength(4);
    expect((await stand.run(["set", "remove", "onboarding", "docs/b.md", "README.md"])).code).toBe(0);
    expect(text()).toBe(`${config}sets:\n  onboarding:\n    title: First day\n    resources:\n      - docs/設定.md\n`);
    expect((await stand.run(["set", "remove", "onboarding"])).out).toContain("was removed");
    expect(text()).toBe(config);
  });

  it("keeps it in the state folder where there is no config, or where that is a program", async () => {
    const added = await stand.run(["set", "add", "手順", "docs"]);
    expect(added.out).toMatch(
      /^the set "手順" holds 1 resource, and is stored in .*state.pressmark.sets.[0-9a-f]{32}\n$/,
    );
    expect((await stand.run(["set"])).out).toBe("手順\n");
    expect(readdirSync(stand.folder)).not.toContain("pressmark.config.yaml");
    expect((await stand.run(["set", "remove", "手順", "docs"])).out).toContain("was removed");
    expect((await stand.run(["set", "list"])).err).toContain("there are no sets");

    stand.write("pressmark.config.ts", `export default { sets: { own: { resources: ["README.md"] } } };`);
    const flags = ["--config", "pressmark.config.ts"];
    expect((await stand.run(["set", "add", "more", "README.md", ...flags])).out).toMatch(/state.pressmark.sets/);
    const refused = await stand.run(["set", "add", "own", "docs/b.md", ...flags]);
    expect(refused.code).toBe(2);
    expect(refused.err).toContain("by hand");
    expect((await stand.run(["set", "list", ...flags])).out).toBe("more\nown\n");
  });

  it("edits JSON as it is written", async () => {
    stand.write("pressmark.config.json", `{ "sets": { "a": { "resources": ["README.md"] } } }\n`);
    expect((await stand.run(["set", "add", "a", "docs/b.md"])).code).toBe(0);
    expect(readFileSync(join(stand.folder, "pressmark.config.json"), "utf8")).toBe(
      `{ "sets": { "a": { "resources": ["README.md","docs/b.md"] } } }\n`,
    );
  });

  it.for([
    [["set", "add"], 2, /needs the name/],
    [["set", "add", "x"], 2, /name the resources to add/],
    [["set", "add", "../x", "README.md"], 2, /a set's name/],
    [["set", "add", "__proto__", "README.md"], 2, /a set's name/],
    [["set", "add", "x", "nowhere.md"], 3, /no resource at/],
    [["set", "add", "x", "../outside"], 3, /no resource at/],
    [["set", "add", "x", "set://y"], 2, /not other sets/],
    [["set", "remove", "x"], 3, /no set "x"/],
    [["set", "show", "x"], 3, /set:\/\/x/],
    [["set", "list", "x"], 2, /list takes no name/],
    [["set", "nonsense"], 2, /is not a valid action/],
    [["set", "remove", "x", "--title", "t"], 2, /work only with add/],
    [["set", "add", "x", "README.md", "--server", "http://127.0.0.1:1"], 2, /leave out --server/],
  ] as const)("says what is wrong with %j", async ([words, code, sentence]) => {
    const ran = await stand.run(words);
    expect(ran).toMatchObject({ code });
    expect(ran.err).toMatch(sentence);
    expect(readdirSync(stand.folder)).toEqual(["README.md", "docs"]);
  });

  it("does not touch a config that cannot be used", async () => {
    stand.write("pressmark.config.yaml", "mounts: [");
    expect((await stand.run(["set", "add", "x", "README.md"])).code).toBe(2);
    expect(readFileSync(join(stand.folder, "pressmark.config.yaml"), "utf8")).toBe("mounts: [");
  });

  it("keeps a copy of the config that it changes", async () => {
    stand.write("pressmark.config.yaml", config);
    await stand.run(["set", "add", "x", "README.md"]);
    const backups = join(stand.folder, "../state/pressmark/backups");
    const [copy] = readdirSync(backups);
    expect(readFileSync(join(backups, copy!), "utf8")).toBe(config);
  });
});

describe("complete", () => {
  it("suggests what may stand for a variable", async () => {
    const template = `${stand.base}{+path}{?lines,bytes,as}`;
    expect((await stand.run(["complete", template, "path", "do"])).out).toContain("docs");
    const json = JSON.parse((await stand.run(["complete", template, "path", "README", "--json"])).out) as object;
    expect(json).toEqual({ values: ["README.md"], total: 1, more: false });
    expect(await stand.run(["complete", template, "nothing"])).toMatchObject({ code: 2, out: "" });
    expect(await stand.run(["complete", `${stand.base}README.md`, "path"])).toMatchObject({ code: 0 });
    expect(await stand.run(["complete", "x://{y}", "y"])).toMatchObject({ code: 2 });
    expect((await stand.run(["complete", template, "path", "--given", "x"])).err).toContain("--given takes");
  });

  it("takes what is settled already into account", async () => {
    git("init", "-q", "-b", "main");
    git("add", "README.md");
    git("commit", "-q", "-m", "first");
    git("checkout", "-q", "-b", "other");
    git("add", ".");
    git("commit", "-q", "-m", "second");
    expect(await completeIn("main")).toMatchObject({ code: 0, err: "", out: "README.md\n" });
    expect((await completeIn("other")).out).toContain("docs/");
  });
});
