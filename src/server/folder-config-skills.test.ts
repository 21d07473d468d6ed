import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Call } from "../resources.ts";
import { openServer, type Server } from "./open-server.ts";

const call: Call = { caller: { id: "test" }, signal: new AbortController().signal };
let root: string;
let pressmark: Server | undefined;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-skills-here-")));
  mkdirSync(join(root, "project"));
});

afterEach(async () => {
  await pressmark?.close();
  pressmark = undefined;
  rmSync(root, { recursive: true, force: true });
});

function put(path: string, text = ""): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const skill = (name: string) => `---\nname: ${name}\ndescription: What ${name} is for\n---\n`;

async function open(...folders: readonly string[]): Promise<Server> {
  const env = { XDG_STATE_HOME: join(root, "state"), XDG_CACHE_HOME: join(root, "cache"), HOME: join(root, "home") };
  return (pressmark = await openServer({ folders, from: root, env, err: { write: () => true } }));
}

async function skillsOf({ resources }: Server): Promise<string[]> {
  return ((await resources.skills?.({}, call))?.items ?? []).map(({ uri }) => uri);
}

it("a folder without skills has no mount for them", async () => {
  put("project/skills/index.html");
  const opened = await open("project");
  expect(opened.mounts.map(({ name }) => name)).toEqual(["project"]);
  expect(await skillsOf(opened)).toEqual([]);
});

it("the skills of a folder are served beside it, those in hidden folders too", async () => {
  put("project/.claude/skills/press/SKILL.md", skill("press"));
  put("project/.agents/skills/bind/SKILL.md", skill("bind"));
  put("project/skills/ink/SKILL.md", skill("ink"));
  const opened = await open("project");
  expect(opened.mounts.map(({ name, base }) => [name, base])).toContainEqual(["skills", "skill://"]);
  expect(await skillsOf(opened)).toEqual(["skill://bind/SKILL.md", "skill://ink/SKILL.md", "skill://press/SKILL.md"]);
  const { contents } = await opened.resources.read("skill://press/SKILL.md", call);
  expect(contents).toMatchObject([{ body: { text: skill("press") } }]);
});

it("the skills of several folders are one mount, with a name that none of them has", async () => {
  put("skills/.claude/skills/press/SKILL.md", skill("press"));
  put("other/.claude/skills/ink/SKILL.md", skill("ink"));
  const opened = await open("skills", "other");
  expect(opened.mounts.map(({ name }) => name)).toEqual(["skills", "other", "skills-2"]);
  expect(await skillsOf(opened)).toEqual(["skill://ink/SKILL.md", "skill://press/SKILL.md"]);
});

it("a folder of skills that is a link counts only if it leads to somewhere inside", async () => {
  put("elsewhere/press/SKILL.md", skill("press"));
  put("project/.agents/skills/ink/SKILL.md", skill("ink"));
  mkdirSync(join(root, "project/.claude"));
  symlinkSync(join(root, "elsewhere"), join(root, "project/.claude/skills"));
  expect(await skillsOf(await open("project"))).toEqual(["skill://ink/SKILL.md"]);
  await pressmark?.close();
  rmSync(join(root, "project/.claude/skills"));
  symlinkSync("../.agents/skills", join(root, "project/.claude/skills"));
  const opened = await open("project");
  expect(await skillsOf(opened)).toEqual(["skill://ink/SKILL.md"]);
});
