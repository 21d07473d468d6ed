import { describe, expect, it } from "vitest";
import type { Policy } from "../access/policy.ts";
import { openPolicy } from "../access/policy.ts";
import { ResourceError } from "../errors.ts";
import type { Source, SourceSkill } from "../source.ts";
import { createMemory } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { collect } from "../testing/pages.ts";
import { refusal } from "../testing/refusal.ts";
import { createResources } from "./create-resources.ts";

const call = { caller: { id: "reader" }, signal: new AbortController().signal };

function skillAt(folder: string, ...more: readonly string[]): SourceSkill {
  const name = folder.slice(folder.lastIndexOf("/") + 1);
  const files = ["SKILL.md", ...more].map((file) => ({ path: `${folder}/${file}`, digest: `sha256:${file}`, size: 1 }));
  return { path: `${folder}/SKILL.md`, frontMatter: { name, description: name }, files };
}

/** A source that returns one skill per page. */
function sourceOf(...found: readonly SourceSkill[]): Source {
  return {
    ...createMemory({}).source,
    async skills({ cursor = "0" }) {
      const at = Number(cursor);
      return { items: found.slice(at, at + 1), ...(at + 1 < found.length && { next: String(at + 1) }) };
    },
    async skill({ path }) {
      const skill = found.find((each) => each.path === path);
      if (!skill) throw new ResourceError("not-found", "none");
      return skill;
    },
  };
}

function resourcesOf(sources: Readonly<Record<string, Source>>, policy: Policy = openPolicy, pageSize = 1000) {
  const clock = createClock();
  const pressmark = createResources({
    mounts: Object.entries(sources).map(([name, source]) => ({
      name,
      base: `${name}://`,
      source,
      freshness: { ttlMs: 5, scope: "public" },
    })),
    policy,
    runtime: clock.runtime,
    cursorKey: new Uint8Array(32),
    pageSize,
  });
  const list = (limit?: number) =>
    collect(async (cursor) => {
      const ask = { ...(cursor !== undefined && { cursor }), ...(limit !== undefined && { limit }) };
      return (await pressmark.skills?.(ask, call)) ?? { items: [] };
    });
  return { pressmark, clock, list };
}

const hiding = (...paths: readonly string[]): Policy => ({
  maySee: (_caller, _mount, { path }) => !paths.includes(path),
});

describe("the skills of many mounts", () => {
  it.each([1, 2, 1000])("are one list, %i to a page", async (pageSize) => {
    const { list } = resourcesOf(
      {
        b: sourceOf(skillAt("x"), skillAt("y"), skillAt("z")),
        a: sourceOf(skillAt("x")),
        plain: createMemory({}).source,
      },
      openPolicy,
      pageSize,
    );
    expect((await list()).map(({ uri }) => uri)).toEqual([
      "a://x/SKILL.md",
      "b://x/SKILL.md",
      "b://y/SKILL.md",
      "b://z/SKILL.md",
    ]);
    expect(await list(1)).toHaveLength(4);
  });

  it("are served if one mount fails, and that mount is named", async () => {
    const broken: Source = {
      ...sourceOf(),
      skills: () => Promise.reject(new ResourceError("unavailable", "away")),
    };
    const { pressmark } = resourcesOf({ a: broken, b: sourceOf(skillAt("x")) });
    expect(await pressmark.skills?.({}, call)).toMatchObject({
      items: [{ uri: "b://x/SKILL.md" }],
      failures: [{ mount: "a" }],
    });
  });

  it("give cursors that are invalid for other lists, and none for a mount without skills", async () => {
    const skilled = sourceOf(skillAt("x"), skillAt("y"));
    const { pressmark } = resourcesOf({ a: skilled }, openPolicy, 1);
    const cursor = (await pressmark.skills?.({}, call))?.next ?? "";
    expect(cursor).not.toBe("");
    await refusal(pressmark.list({ cursor }, call), ["invalid"], "list");
    const { pressmark: plain } = resourcesOf({ a: createMemory({}).source }, openPolicy, 1);
    await refusal(Promise.resolve(plain.skills?.({ cursor }, call)), ["invalid"], "skills");
  });
});

describe("a skill with files that the caller may not see", () => {
  const source = sourceOf(skillAt("x", "a.txt", "b.txt"));

  it("is the skill without these: no digest, name or gap reveals them", async () => {
    const { pressmark, list } = resourcesOf({ a: source }, hiding("x/a.txt"));
    const shown = {
      uri: "a://x/SKILL.md",
      frontMatter: { name: "x", description: "x" },
      files: [
        { uri: "a://x/SKILL.md", digest: "sha256:SKILL.md", size: 1 },
        { uri: "a://x/b.txt", digest: "sha256:b.txt", size: 1 },
      ],
    };
    expect(await list()).toEqual([shown]);
    expect(await pressmark.skill?.("a://x/SKILL.md", call)).toEqual({ skill: shown, ttlMs: 5, scope: "private" });
  });

  it("is not found if SKILL.md is hidden, or links to something hidden", async () => {
    const { pressmark, list } = resourcesOf({ a: source }, hiding("x/SKILL.md"));
    expect(await list()).toEqual([]);
    const hidden = await refusal(Promise.resolve(pressmark.skill?.("a://x/SKILL.md", call)), ["not-found"], "x");
    const { pressmark: empty } = resourcesOf({ a: sourceOf() });
    const missing = await refusal(Promise.resolve(empty.skill?.("a://x/SKILL.md", call)), ["not-found"], "x");
    expect(hidden.message).toBe(missing.message);

    const linked = { ...skillAt("x"), reveals: { path: "secret" } };
    const { pressmark: led, list: all } = resourcesOf({ a: sourceOf(linked) }, hiding("secret"));
    expect(await all()).toEqual([]);
    await refusal(Promise.resolve(led.skill?.("a://x/SKILL.md", call)), ["not-found"], "x");
  });
});

describe("one skill", () => {
  it("has the URI as the caller wrote it, files included", async () => {
    const { pressmark } = resourcesOf({ a: sourceOf(skillAt("x", "b c.txt")) });
    const answer = await pressmark.skill?.("a://%78/SKILL.m%64", call);
    expect(answer).toMatchObject({
      skill: {
        uri: "a://%78/SKILL.m%64",
        files: [{ uri: "a://%78/SKILL.m%64" }, { uri: "a://%78/b%20c.txt" }],
      },
      ttlMs: 5,
      scope: "public",
    });
  });

  it("whose files are generated on request has no digests (SKL-16)", async () => {
    const { pressmark, list } = resourcesOf({ a: sourceOf({ ...skillAt("x"), files: "dynamic" }) });
    expect(await list()).toMatchObject([{ files: "dynamic" }]);
    expect(await pressmark.skill?.("a://x/SKILL.md", call)).toMatchObject({ skill: { files: "dynamic" } });
  });

  it("is found only at its SKILL.md", async () => {
    const { pressmark } = resourcesOf({ a: sourceOf(skillAt("x")), plain: createMemory({ "x/SKILL.md": "" }).source });
    for (const uri of ["a://x", "a://x/SKILL.md?a=b", "a://y/SKILL.md", "plain://x/SKILL.md", "b://x/SKILL.md"])
      await refusal(Promise.resolve(pressmark.skill?.(uri, call)), ["not-found"], uri);
  });
});
