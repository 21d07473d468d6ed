/** Skills from end to end: the command in a project that has some, and the official clients that know them. */
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SkillsClient, SkillVerificationError } from "@modelcontextprotocol/client/ext/skills";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serve, type Serving, stdioOf } from "./command.ts";
import { runScenario } from "./conformance-suite.ts";
import type { Folder } from "./folder.ts";
import { createInspector, type Inspector, targetOf } from "./inspector.ts";
import { overHttp, overStdio, type V2Visitor, visitV2 } from "./sdk-v2.ts";
import { createSkillsFolder, printingUris, type SkillsFolder, skillUris } from "./skills-folder.ts";

const pinned = { pin: "2026-07-28" };

let root: string;
let project: Pick<Folder, "path" | "state">;
let folder: SkillsFolder;
let serving: Serving;
let inspector: Inspector;

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "pressmark-interop-")));
  project = { path: join(root, "served"), state: join(root, "state") };
  await mkdir(join(project.path, ".claude"), { recursive: true });
  folder = await createSkillsFolder(join(project.path, ".claude/skills"));
  serving = await serve(project);
  inspector = await createInspector(project.state);
});
afterAll(async () => {
  await inspector[Symbol.asyncDispose]();
  await serving[Symbol.asyncDispose]();
  await rm(root, { recursive: true, force: true });
});

describe.each([
  { over: "stdio", open: () => visitV2(overStdio(stdioOf(project)), pinned) },
  { over: "HTTP", open: () => visitV2(overHttp(serving.url), pinned) },
])("the official client over $over", ({ over, open }) => {
  let visitor: V2Visitor;
  let skills: SkillsClient;

  beforeAll(async () => {
    visitor = await open();
    skills = new SkillsClient(visitor.client);
  });
  afterAll(async () => {
    await visitor[Symbol.asyncDispose]();
  });

  it("finds every skill that is right, and no other (SKL-1, SKL-2)", async () => {
    const found = await skills.list();
    expect(found.invalid).toEqual([]);
    expect(found.skills.map(({ uri }) => uri)).toEqual(skillUris);
    expect(found.skills[0]?.frontmatter).toMatchObject({ license: "MIT", metadata: { author: "the printer's" } });
  });

  it("reads every file of every skill, and finds it to be what its digest says (SKL-8, SKL-9)", async () => {
    const [printing] = (await skills.list()).skills;
    if (!printing || printing.resources === "dynamic") throw new Error("there is no skill with digests");
    expect(printing.resources.map(({ uri }) => uri).sort()).toEqual([...printingUris].sort());
    for (const skill of (await skills.list()).skills)
      for (const { uri } of skill.resources === "dynamic" ? [] : skill.resources)
        expect(await skills.read(skill, uri)).toMatchObject({ uri, verified: true });
    expect(await skills.read(printing, "plates/Q&A 100% 日本.md")).toMatchObject({ text: "# Odd, and yet a name\n" });
    expect((await skills.read(printing)).frontmatter).toEqual(printing.frontmatter);
  });

  it("gets one skill by its URI, and is told of what is none (SKL-12, SKL-13)", async () => {
    for (const uri of skillUris) expect((await skills.get(uri)).skill.uri).toBe(uri);
    for (const uri of ["skill://printing", "skill://broken/SKILL.md", "skill://nowhere/SKILL.md"])
      await expect(skills.get(uri)).rejects.toMatchObject({ code: -32602 });
  });

  it("lists the directories of a skill (SKL-14)", async () => {
    const { resources } = await skills.readDirectory("skill://printing");
    expect(resources).toMatchObject([
      { uri: "skill://printing/SKILL.md", name: "printing", mimeType: "text/markdown" },
      { uri: "skill://printing/plates", name: "plates", mimeType: "inode/directory" },
    ]);
    expect((await skills.readDirectory("skill://printing/plates")).resources).toHaveLength(4);
    await expect(skills.readDirectory("skill://printing/SKILL.md")).rejects.toMatchObject({ code: -32602 });
  });

  it("hears of a new skill, and notices a changed one (SKL-17)", async () => {
    const name = `fresh-${over.toLowerCase()}`;
    const uri = `skill://${name}/SKILL.md`;
    await visitor.client.listen({ resourcesListChanged: true });
    await folder.write(`${name}/SKILL.md`, `---\nname: ${name}\ndescription: New\n---\n`);
    await visitor.heard.next("list-changed");
    const { skill } = await skills.get(uri);
    expect(await skills.read(skill)).toMatchObject({ verified: true });

    await folder.write(`${name}/SKILL.md`, `---\nname: ${name}\ndescription: Newer\n---\n`);
    await visitor.heard.next("list-changed");
    await expect(skills.read(skill)).rejects.toSatisfy((error) => error instanceof SkillVerificationError);
    const { skill: newer } = await skills.get(uri);
    expect(await skills.read(newer)).toMatchObject({ verified: true, frontmatter: { description: "Newer" } });
    await rm(join(folder.path, name), { recursive: true });
    await visitor.heard.next("list-changed");
    await expect(skills.get(uri)).rejects.toMatchObject({ code: -32602 });
  });
});

describe.each([
  { over: "stdio", target: () => targetOf(stdioOf(project)) },
  { over: "HTTP", target: () => [serving.url.href] },
])("the Inspector over $over", ({ target }) => {
  const ask = (method: string, ...options: readonly string[]) =>
    inspector.ask(target(), "--protocol-era", "modern", "--method", method, ...options);

  it("lists the skills (SKL-1)", async () => {
    const { skills } = (await ask("skills/list")) as { skills: { uri: string }[] };
    expect(skills.map(({ uri }) => uri)).toEqual(expect.arrayContaining(skillUris));
  });

  it("finds nothing to object to, and every file to be what its digest says (SKL-2, SKL-7, SKL-9)", async () => {
    const reports = await inspector.verify(target());
    const sound = { ok: true, outcome: "verified", conformance: [], frontmatter: [] };
    expect(reports).toMatchObject(skillUris.map((uri) => ({ uri, ...sound })));
  });

  it("gets one, and reads it (SKL-12)", async () => {
    const [uri = ""] = skillUris;
    expect(JSON.stringify(await ask("skills/get", "--uri", uri))).toContain('"name":"printing"');
    expect(await ask("resources/read", "--uri", uri)).toMatchObject({
      contents: [{ uri, mimeType: "text/markdown", text: expect.stringContaining("# Printing") }],
    });
    await expect(ask("skills/get", "--uri", "skill://nowhere/SKILL.md")).rejects.toThrow();
  });

  it("lists its directory (SKL-14)", async () => {
    expect(await ask("resources/directory/read", "--uri", "skill://printing")).toMatchObject({
      resources: [
        { uri: "skill://printing/SKILL.md" },
        { uri: "skill://printing/plates", mimeType: "inode/directory" },
      ],
    });
  });
});

describe("the conformance suite", () => {
  it.each(["enumeration", "manifest", "directory"])("finds nothing wrong with the %s of skills", async (part) => {
    const found = await runScenario(serving.url.href, `sep-2640-skills-${part}`);
    expect(found).toMatchObject({ failures: [], warnings: [], skipped: [] });
    expect(found.held).toBeGreaterThan(0);
  });
});
