import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openPolicy } from "../access/policy.ts";
import { encodeText } from "../lib/text-encoding.ts";
import { createResources } from "../router/create-resources.ts";
import type { LocalResources } from "../router/create-resources.ts";
import { createRuntime } from "../server/runtime.ts";
import type { Source, SourceSkill } from "../source.ts";
import { contractContent } from "../testing/contract-content.ts";
import { collectChanges } from "../testing/listen.ts";
import { asking, collect } from "../testing/pages.ts";
import { refusal } from "../testing/refusal.ts";
import { resourcesContract } from "../testing/resources-contract.ts";
import { sourceContract } from "../testing/source-contract.ts";
import skills from "./skills.ts";
import { hasty, skillText, useSkills } from "./skills/test-skills.ts";

const folder = useSkills();
const { at, call, open, write, writeSkill } = folder;

const content = {
  ...Object.fromEntries(Object.entries(contractContent).map(([path, text]) => [`team/press/${path}`, text])),
  "team/press/SKILL.md": skillText("press"),
  "ink/SKILL.md": skillText("ink", "description: インクの使い方\nlicense: MIT"),
  "ink/mixtures.csv": "black,1\n",
  "ink/scripts/mix.py": "print('ink')\n",
};

function fill(): void {
  for (const [path, text] of Object.entries(content)) write(path, text ?? "");
}

sourceContract("skills", {
  abilities: ["stat", "children", "templates", "complete", "skills", "watch"],
  content,
  async open() {
    fill();
    return open({}, hasty);
  },
  inside: "team/press/",
  write,
  remove: (path) => fs.rmSync(at(path)),
  rename: (from, to) => fs.renameSync(at(from), at(to)),
  expansions: [
    { at: { path: "ink/SKILL.md" }, text: content["ink/SKILL.md"] },
    { at: { path: "ink/scripts/mix.py" }, text: "print('ink')\n" },
  ],
  completions: [
    { template: "{+skill}/SKILL.md", variable: "skill", value: "", expected: "ink" },
    { template: "{+skill}/SKILL.md", variable: "skill", value: "press", expected: "team/press" },
    { template: "{+path}", variable: "path", value: "ink/s", expected: "ink/scripts/mix.py" },
  ],
});

const runtime = createRuntime({ write: () => true });
let pressmark: LocalResources | undefined;

resourcesContract("skills in a server", {
  content,
  async open() {
    fill();
    const source = await open({}, hasty);
    pressmark = createResources({
      mounts: [{ name: "skills", base: "skill://", source }],
      policy: openPolicy,
      runtime,
      cursorKey: new Uint8Array(32),
      pageSize: 7,
    });
    return pressmark;
  },
  uriOf: (path) => `skill://${encodeURI(path).replace(/[#?[\]]/g, encodeURIComponent)}`,
  inside: "team/press/",
  write,
  remove: (path) => fs.rmSync(at(path)),
  clear: () => pressmark?.close(),
  skill: "ink/SKILL.md",
  completion: { template: "skill://{+skill}/SKILL.md", variable: "skill", value: "in", expected: "ink" },
});

const skillsOf = (source: Pick<Source, "skills">): Promise<SourceSkill[]> =>
  collect((cursor) => present(source.skills)(asking(100, cursor), call()));
const namesOf = async (source: Pick<Source, "skills">) => (await skillsOf(source)).map(({ path }) => path);
const problemsOf = async (source: Pick<Source, "problems">) => (await source.problems?.(call())) ?? [];

function present<T>(method: T | undefined): T {
  if (method === undefined) throw new Error("the source lacks an ability");
  return method;
}

async function textAt(source: Source, path: string): Promise<string> {
  const [part] = await source.read({ path }, call());
  if (part === undefined || !("text" in part.body)) throw new Error(`${path} is not text`);
  return part.body.text;
}

describe("a skill", () => {
  it("has the fields of its author, and its files", async () => {
    write(
      "pdf/SKILL.md",
      `---\n# all of the format\nname: pdf\ndescription: >-\n  Reads forms.\n  帳票を読む。\nlicense: Apache-2.0\ncompatibility: Needs uv\nmetadata:\n  author: 山田\n  version: "1.0"\nallowed-tools: Bash(git:*) Read\nfuture: [1, true, null, {a: 0.5}]\n---\nBody\n`,
    );
    write("pdf/scripts/run.sh", "echo\n");
    const [skill] = await skillsOf(await open());
    expect(skill).toEqual({
      path: "pdf/SKILL.md",
      frontMatter: {
        name: "pdf",
        description: "Reads forms. 帳票を読む。",
        license: "Apache-2.0",
        compatibility: "Needs uv",
        metadata: { author: "山田", version: "1.0" },
        "allowed-tools": "Bash(git:*) Read",
        future: [1, true, null, { a: 0.5 }],
      },
      files: [
        { path: "pdf/SKILL.md", digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/), size: 249 },
        // printf 'echo\n' | sha256sum
        {
          path: "pdf/scripts/run.sh",
          digest: "sha256:86b0c5a1e2b73b08fd54c727f4458649ed9fe3ad1b6e8ac9460c070113509a1e",
          size: 5,
        },
      ],
    });
  });

  it("is listed by its own name and description", async () => {
    writeSkill("pdf", "description: Reads forms");
    const source = await open();
    expect(await source.stat({ path: "pdf/SKILL.md" }, call())).toMatchObject({
      name: "pdf",
      description: "Reads forms",
      mimeType: "text/markdown",
    });
  });

  it("within another is a separate skill, and its files belong to both", async () => {
    writeSkill("outer");
    writeSkill("outer/inner");
    write("outer/inner/a.txt", "a");
    const source = await open();
    const found = await skillsOf(source);
    expect(found.map(({ path, files }) => [path, files.length])).toEqual([
      ["outer/SKILL.md", 3],
      ["outer/inner/SKILL.md", 2],
    ]);
  });

  it("contains no hidden, ignored or secret file, and nothing outside of skills is served", async () => {
    writeSkill("pdf");
    for (const path of ["pdf/.env", "pdf/id_rsa", "pdf/node_modules/x/index.js", "pdf/notes.tmp", "README.md"])
      write(path, "x");
    write(".gitignore", "*.tmp\n");
    const source = await open();
    expect((await source.list({ limit: 100 }, call())).items.map(({ path }) => path)).toEqual(["pdf/SKILL.md"]);
    await refusal(source.read({ path: "README.md" }, call()), ["not-found"], "README.md");
  });

  it("does not leave its root through a link", async () => {
    writeSkill("pdf");
    fs.writeFileSync(join(folder.above, "secret.txt"), "secret");
    fs.symlinkSync(join(folder.above, "secret.txt"), at("pdf/secret.txt"));
    fs.mkdirSync(join(folder.above, "elsewhere"));
    fs.writeFileSync(join(folder.above, "elsewhere/SKILL.md"), skillText("elsewhere"));
    fs.symlinkSync(join(folder.above, "elsewhere"), at("elsewhere"));
    const source = await open();
    expect(await skillsOf(source)).toMatchObject([{ path: "pdf/SKILL.md", files: [{ path: "pdf/SKILL.md" }] }]);
  });

  it("returns each file with the bytes of its digest, in any encoding", async () => {
    writeSkill("pdf");
    const japanese = "これは日本語の文章です。印刷の手順を説明します。\n";
    const written: Record<string, Uint8Array> = {
      "sjis.txt": encodeText(japanese, "shift_jis") ?? new Uint8Array(),
      "euc.txt": encodeText(japanese, "euc-jp") ?? new Uint8Array(),
      "utf16.txt": Buffer.concat([Uint8Array.of(0xff, 0xfe), Buffer.from(japanese, "utf16le")]),
      "marked.md": Buffer.from(`\ufeff${japanese}`),
      "plain.md": Buffer.from(japanese),
      "binary.bin": Uint8Array.from({ length: 300 }, (_, index) => index),
      "empty.txt": new Uint8Array(),
    };
    for (const [name, bytes] of Object.entries(written)) write(`pdf/${name}`, bytes);
    const source = await open();
    for (const [name, bytes] of Object.entries(written)) {
      const [part] = await source.read({ path: `pdf/${name}` }, call());
      const body = part?.body ?? { text: "" };
      const given = "text" in body ? Buffer.from(body.text, "utf8") : Buffer.from(body.bytes);
      expect([name, given.equals(bytes)]).toEqual([name, true]);
      expect([name, "text" in body]).toEqual([name, /^(?:marked|plain|empty)/.test(name)]);
    }
  });
});

describe("an invalid skill", () => {
  const broken: Readonly<Record<string, readonly [text: string, says: string]>> = {
    unnamed: ["---\ndescription: x\n---\n", "has no name"],
    Upper: ["---\nname: Upper\ndescription: x\n---\n", 'has the name "Upper"'],
    双子: ["---\nname: 双子\ndescription: x\n---\n", 'has the name "双子"'],
    other: ["---\nname: another\ndescription: x\n---\n", 'is in the folder "other"'],
    mute: ["---\nname: mute\ndescription: ''\n---\n", "has no description"],
    long: [`---\nname: long\ndescription: ${"x".repeat(1025)}\n---\n`, "has no description"],
    plain: ["# plain\n", "has no front matter"],
    open: ["---\nname: open\ndescription: x\n", "has no front matter"],
    list: ["---\n- name\n---\n", "not a list of names"],
    twice: ["---\nname: twice\nname: twice\ndescription: x\n---\n", "is not valid YAML at line 3"],
    torn: ["---\nname: torn\ndescription: [x\n---\n", "is not valid YAML"],
    alias: ["---\nname: alias\ndescription: &a x\nlicense: *a\n---\n", "an alias"],
    tagged: ["---\nname: tagged\ndescription: !!binary eA==\n---\n", "the tag"],
    script: ["---\nname: script\ndescription: !<tag:x> y\n---\n", "is not valid YAML"],
    proto: ["---\nname: proto\ndescription: x\n__proto__: {name: y}\n---\n", "__proto__"],
    number: ["---\nname: number\ndescription: x\n1: y\n---\n", "a name that is not text"],
    endless: ["---\nname: endless\ndescription: x\nmore: .inf\n---\n", "an infinite number"],
    deep: [`---\nname: deep\ndescription: x\nmore: ${"[".repeat(40)}${"]".repeat(40)}\n---\n`, "too deeply"],
    abyss: [`---\nname: abyss\ndescription: x\nmore: ${"[".repeat(16_000)}\n---\n`, "front matter"],
    vast: [`---\nname: vast\ndescription: x\nmore: ${"y".repeat(70_000)}\n---\n`, "more than 16384 characters"],
    meta: ["---\nname: meta\ndescription: x\nmetadata: {version: 1.0}\n---\n", "metadata values that are not text"],
    tools: ["---\nname: tools\ndescription: x\nallowed-tools: 5\n---\n", "allowed-tools"],
    compatible: ["---\nname: compatible\ndescription: x\ncompatibility: ''\n---\n", "compatibility"],
    licensed: ["---\nname: licensed\ndescription: x\nlicense: [MIT]\n---\n", "license"],
  };

  it.each(Object.entries(broken))("is left out, with a reason: %s", async (name, [text, says]) => {
    write(`${name}/SKILL.md`, text);
    writeSkill("sound");
    const source = await open({}, hasty);
    expect(await namesOf(source)).toEqual(["sound/SKILL.md"]);
    expect((await source.list({ limit: 100 }, call())).items.map(({ path }) => path)).toEqual(["sound/SKILL.md"]);
    const problems = await problemsOf(source);
    expect(problems.map(({ path }) => path)).toEqual([`${name}/SKILL.md`]);
    expect(problems[0]?.says).toContain(says);
    expect(folder.logged).toHaveLength(1);
  });

  it.each([
    [
      "other",
      "another",
      'has the name "another", but is in the folder "other"',
      'write "name: other", or rename the folder to "another"',
    ],
    ["請求", "invoices", 'has the name "invoices", but is in the folder "請求"', 'rename the folder to "invoices"'],
    ["invoices", "請求", 'has the name "請求", which is not allowed', 'write "name: invoices", the name of its folder'],
    [
      "My Skill",
      "My Skill",
      'has the name "My Skill", which is not allowed',
      /^rename the folder "My Skill", and write the same name: a-z/,
    ],
  ])("in the folder %s named %s says in which line what to change", async (inFolder, name, says, advice) => {
    write(`team/${inFolder}/SKILL.md`, `---\ndescription: x\nname: ${name}\n---\n`);
    const stringAdvice = typeof advice === "string" ? advice : (expect.stringMatching(advice) as string);
    expect(await problemsOf(await open({}, hasty))).toEqual([
      { path: `team/${inFolder}/SKILL.md`, line: 3, says, advice: stringAdvice },
    ]);
  });

  it("has no line where the field is missing", async () => {
    write("unnamed/SKILL.md", "---\ndescription: x\n---\nname: in the text\n");
    expect(await problemsOf(await open({}, hasty))).toEqual([
      { path: "unnamed/SKILL.md", says: "has no name", advice: 'write "name: unnamed", the name of its folder' },
    ]);
  });

  it("is named with its root where there are several", async () => {
    const other = join(folder.above, "other");
    fs.mkdirSync(join(other, "ink"), { recursive: true });
    fs.writeFileSync(join(other, "ink/SKILL.md"), skillText("pen"));
    writeSkill("pdf");
    expect(await problemsOf(await open({ roots: [other] }, hasty))).toMatchObject([
      { path: join(other, "ink/SKILL.md"), line: 2, says: 'has the name "pen", but is in the folder "ink"' },
    ]);
  });

  it("is a SKILL.md that is not UTF-8, or is in the root itself", async () => {
    write("SKILL.md", skillText("skills"));
    write(
      "sjis/SKILL.md",
      encodeText(skillText("sjis", "description: 日本語の説明がここに入ります"), "shift_jis") ?? "",
    );
    expect(await problemsOf(await open())).toMatchObject([
      { path: "SKILL.md", says: "is in the root itself" },
      { path: "sjis/SKILL.md", says: "is not in UTF-8" },
    ]);
  });

  it("is a skill of more than 512 files, or of more than 16 MiB", async () => {
    for (const name of ["many", "most"]) {
      writeSkill(name);
      for (let number = 1; number < 512; number += 1) write(`${name}/${number}.txt`, "");
    }
    write("many/512.txt", "");
    for (const name of ["heavy", "heaviest"]) writeSkill(name);
    const own = fs.statSync(at("heavy/SKILL.md")).size;
    fs.truncateSync((write("heavy/blob.bin", ""), at("heavy/blob.bin")), 16 * 1024 * 1024 - own);
    fs.truncateSync((write("heaviest/blob.bin", ""), at("heaviest/blob.bin")), 16 * 1024 * 1024);
    const source = await open();
    expect(await namesOf(source)).toEqual(["heavy/SKILL.md", "most/SKILL.md"]);
    expect((await problemsOf(source)).map(({ path, says }) => `${path} ${says}`)).toEqual([
      expect.stringMatching(/^heaviest\/SKILL.md belongs to a skill of \d+ bytes$/),
      "many/SKILL.md belongs to a skill of 513 files",
    ]);
  });
});

describe("several roots", () => {
  it("are merged, and of two skills with the same path the first is served", async () => {
    writeSkill("pdf", "description: the first");
    const other = join(folder.above, "other");
    fs.mkdirSync(join(other, "pdf"), { recursive: true });
    fs.mkdirSync(join(other, "ink"));
    fs.writeFileSync(join(other, "pdf/SKILL.md"), skillText("pdf", "description: the second"));
    fs.writeFileSync(join(other, "ink/SKILL.md"), skillText("ink"));
    const source = await open({ roots: [other, folder.root] });
    expect((await skillsOf(source)).map(({ path, frontMatter }) => [path, frontMatter.description])).toEqual([
      ["ink/SKILL.md", "What it is for"],
      ["pdf/SKILL.md", "the first"],
    ]);
    expect(await problemsOf(source)).toMatchObject([{ path: "pdf/SKILL.md", says: expect.stringContaining("twice") }]);
    fs.writeFileSync(join(other, "pdf/SKILL.md"), skillText("pdf", "description: the first"));
    expect(await problemsOf(source)).toEqual([]);
  });

  it("have their own base with a prefix", () => {
    expect(skills.base?.({ root: "x" })).toBe("skill://");
    expect(skills.base?.({ root: "x", prefix: "acme/billing" })).toBe("skill://acme/billing/");
  });

  it("without one of them serve the rest, and serve it again when it is back", async () => {
    writeSkill("pdf");
    const other = join(folder.above, "other");
    fs.mkdirSync(join(other, "ink"), { recursive: true });
    fs.writeFileSync(join(other, "ink/SKILL.md"), skillText("ink"));
    const source = await open({ roots: [other] });
    expect(await namesOf(source)).toEqual(["ink/SKILL.md", "pdf/SKILL.md"]);
    fs.renameSync(other, `${other}-away`);
    expect(await namesOf(source)).toEqual(["pdf/SKILL.md"]);
    fs.renameSync(`${other}-away`, other);
    expect(await namesOf(source)).toEqual(["ink/SKILL.md", "pdf/SKILL.md"]);
  });
});

describe("a skill that is being written", () => {
  it("keeps its last valid state while it is invalid, and the log has the reason once", async () => {
    writeSkill("pdf", "description: before");
    write("pdf/a.txt", "before");
    const source = await open();
    const [before] = await skillsOf(source);
    write("pdf/SKILL.md", "---\nname: pdf\ndescr");
    write("pdf/a.txt", "after");
    for (let round = 0; round < 3; round += 1) {
      expect(await skillsOf(source)).toEqual([before]);
      expect(await textAt(source, "pdf/a.txt")).toBe("before");
      expect(await textAt(source, "pdf/SKILL.md")).toContain("description: before");
    }
    expect(await problemsOf(source)).toMatchObject([{ path: "pdf/SKILL.md" }]);
    expect(folder.logged).toHaveLength(1);
    writeSkill("pdf", "description: after");
    expect((await skillsOf(source))[0]?.frontMatter.description).toBe("after");
    expect(await textAt(source, "pdf/a.txt")).toBe("after");
    expect(await problemsOf(source)).toEqual([]);
  });

  it("does not keep its state if it contains a file that is now hidden", async () => {
    writeSkill("pdf");
    write("pdf/plan.md", "a plan");
    write("pdf/shown.md", "shown");
    const source = await open();
    expect(await namesOf(source)).toHaveLength(1);
    write("pdf/SKILL.md", "---\nname: pdf\ndescr");
    fs.rmSync(at("pdf/shown.md"));
    expect(await textAt(source, "pdf/plan.md")).toBe("a plan");
    expect(await textAt(source, "pdf/shown.md")).toBe("shown");
    write("pdf/.pressmarkignore", "plan.md\n");
    await expect.poll(() => namesOf(source)).toEqual([]);
    await refusal(source.read({ path: "pdf/plan.md" }, call()), ["not-found"], "plan.md");
  });

  it("is gone when its SKILL.md or its folder is", async () => {
    writeSkill("pdf");
    writeSkill("ink");
    const source = await open();
    expect(await namesOf(source)).toHaveLength(2);
    fs.rmSync(at("pdf/SKILL.md"));
    expect(await namesOf(source)).toEqual(["ink/SKILL.md"]);
    fs.rmSync(at("ink"), { recursive: true });
    expect(await namesOf(source)).toEqual([]);
    expect((await source.children({ path: "" }, { limit: 10 }, call())).items).toEqual([]);
  });

  it("keeps the skills within it", async () => {
    writeSkill("outer", "description: before");
    writeSkill("outer/inner");
    const source = await open();
    expect(await namesOf(source)).toHaveLength(2);
    write("outer/inner/SKILL.md", "");
    writeSkill("outer", "description: after");
    expect((await skillsOf(source)).map(({ frontMatter }) => frontMatter.description)).toEqual([
      "before",
      "What it is for",
    ]);
  });
});

describe("a watch", () => {
  it("reports nothing of incomplete files, and all changes when they are complete", async () => {
    writeSkill("pdf");
    write("pdf/a.txt", "before");
    const source = await open();
    const heard = collectChanges(await source.watch(call()));
    write("pdf/SKILL.md", "---\n");
    write("pdf/a.txt", "after");
    // A reported change of another skill shows that this one was checked.
    writeSkill("ink");
    await heard.until((change) => change.kind === "appeared" && change.path === "ink/SKILL.md", "ink");
    expect(heard.heard.filter((change) => "path" in change && change.path.startsWith("pdf/"))).toEqual([]);
    writeSkill("pdf");
    await heard.until((change) => change.kind === "changed" && change.path === "pdf/a.txt", "pdf/a.txt");
  });

  it("reports a changed list entry as appeared, so that lists are read again", async () => {
    writeSkill("pdf", "description: before");
    const source = await open();
    const heard = collectChanges(await source.watch(call()));
    writeSkill("pdf", "description: after");
    await heard.until((change) => change.kind === "appeared" && change.path === "pdf/SKILL.md", "the new description");
  });

  it("reports every change among many files, at any time", async () => {
    writeSkill("pdf");
    const paths = Array.from({ length: 100 }, (_, index) => `pdf/${index}.txt`);
    for (const path of paths) write(path, "before");
    const source = await open();
    const heard = collectChanges(await source.watch(call()));
    for (const [index, path] of paths.entries()) {
      write(path, "after");
      // Requests between the writes start their own checks.
      if (index % 10 === 0) await source.read({ path }, call());
    }
    for (const path of paths) await heard.until((change) => change.kind === "changed" && change.path === path, path);
  });

  it("reports a skill and its folders that appear and disappear", async () => {
    writeSkill("stays");
    const source = await open();
    const heard = collectChanges(await source.watch(call()));
    fs.mkdirSync(join(folder.above, "new/deep"), { recursive: true });
    fs.writeFileSync(join(folder.above, "new/SKILL.md"), skillText("new"));
    fs.writeFileSync(join(folder.above, "new/deep/a.txt"), "a");
    fs.renameSync(join(folder.above, "new"), at("new"));
    for (const path of ["new", "new/SKILL.md", "new/deep", "new/deep/a.txt"])
      await heard.until((change) => change.kind === "appeared" && change.path === path, path);
    fs.renameSync(at("new"), join(folder.above, "new"));
    for (const path of ["new", "new/SKILL.md", "new/deep", "new/deep/a.txt"])
      await heard.until((change) => change.kind === "gone" && change.path === path, path);
  });
});
