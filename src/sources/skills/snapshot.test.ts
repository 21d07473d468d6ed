import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { dirname } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ResourceError } from "../../errors.ts";
import type { SourceSkill } from "../../source.ts";
import { hasty, skillText, useSkills } from "./test-skills.ts";
import type { SkillsSource } from "./test-skills.ts";

const folder = useSkills();
const { at, call, open, write } = folder;

const digestOf = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

async function skillAt(source: SkillsSource, path: string): Promise<SourceSkill | undefined> {
  try {
    return await source.skill({ path }, call());
  } catch (cause) {
    if (cause instanceof ResourceError && cause.kind === "not-found") return undefined;
    throw cause;
  }
}

async function textAt(source: SkillsSource, path: string): Promise<string> {
  const [part] = await source.read({ path }, call());
  return part && "text" in part.body ? part.body.text : "";
}

function textOf(name: string, turn: number): string {
  return name === "SKILL.md" ? skillText("press", `description: turn ${turn}`) : `${name} ${turn} `.repeat(turn);
}

/** One operation on the skill. */
type Step =
  | { readonly act: "describe"; readonly as: string }
  | { readonly act: "tear"; readonly upTo: number }
  | { readonly act: "write"; readonly name: string; readonly text: string }
  | { readonly act: "remove"; readonly name: string };

const fileName = fc.constantFrom("a.txt", "b/c.md", "b/日本.txt");
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ act: fc.constant("describe" as const), as: fc.constantFrom("one", "two", "三") }),
  fc.record({ act: fc.constant("tear" as const), upTo: fc.nat(20) }),
  fc.record({ act: fc.constant("write" as const), name: fileName, text: fc.constantFrom("x", "y", "zz") }),
  fc.record({ act: fc.constant("remove" as const), name: fc.oneof(fileName, fc.constant("SKILL.md")) }),
);

function take(onDisk: Map<string, string>, one: Step): void {
  const put = (name: string, text: string) => {
    onDisk.set(name, text);
    write(`press/${name}`, text);
  };
  if (one.act === "describe") put("SKILL.md", skillText("press", `description: ${one.as}`));
  else if (one.act === "tear") put("SKILL.md", skillText("press").slice(0, one.upTo));
  else if (one.act === "write") put(one.name, one.text);
  else if (onDisk.delete(one.name)) fs.rmSync(at(`press/${one.name}`));
}

describe("a snapshot", () => {
  it("is the state on the disk, or the last valid one, after any operations on the files", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 7 }), async (steps) => {
        fs.rmSync(at("press"), { recursive: true, force: true });
        const source = await open();
        const onDisk = new Map<string, string>();
        let served: ReadonlyMap<string, string> | undefined;
        for (const one of steps) {
          take(onDisk, one);
          const manifest = onDisk.get("SKILL.md");
          // A text that ends before the second mark is incomplete.
          if (manifest === undefined) served = undefined;
          else if (manifest.endsWith("well.\n")) served = new Map(onDisk);

          const skill = await skillAt(source, "press/SKILL.md");
          const expected = served && [...served].map(([name, text]) => [`press/${name}`, digestOf(text)]).sort();
          const said = skill && skill.files !== "dynamic" ? skill.files : undefined;
          expect(said?.map(({ path, digest }) => [path, digest]).sort()).toEqual(expected);
          for (const [name, text] of served ?? []) expect(await textAt(source, `press/${name}`)).toBe(text);
        }
      }),
      { numRuns: 12 },
    );
  }, 30_000);

  it("never has a digest that a read does not match, even while files are being written", async () => {
    const source = await open({}, hasty);
    const names = ["SKILL.md", "a.txt", "b.txt"];
    for (const name of names) write(`press/${name}`, textOf(name, 0));
    await compare();

    async function writeTurn(turn: number): Promise<void> {
      for (const name of names) {
        const path = at(`press/${name}`);
        const text = textOf(name, turn);
        // Incomplete first, or another file renamed over it, as editors do.
        if (turn % 2 === 0) await fs.promises.writeFile(path, text.slice(0, text.length / 2));
        await fs.promises.writeFile(turn % 3 === 0 ? `${dirname(path)}/.new` : path, text);
        if (turn % 3 === 0) await fs.promises.rename(`${dirname(path)}/.new`, path);
      }
    }

    /** A snapshot that is the same before and after the read was the same during it. */
    async function compare(): Promise<string> {
      const before = await skillAt(source, "press/SKILL.md");
      const texts = new Map<string, string>();
      for (const name of names) texts.set(`press/${name}`, await textAt(source, `press/${name}`));
      const after = await skillAt(source, "press/SKILL.md");
      if (before === undefined || before.files === "dynamic") throw new Error("a skill that is written is not gone");
      if (JSON.stringify(before) !== JSON.stringify(after)) return "";
      for (const { path, digest } of before.files)
        expect([path, digestOf(texts.get(path) ?? "")]).toEqual([path, digest]);
      expect(texts.get("press/SKILL.md")).toContain(`description: ${before.frontMatter.description}\n`);
      return before.frontMatter.description;
    }

    for (let turn = 1; turn <= 30; turn += 1) {
      await Promise.all([writeTurn(turn), compare(), compare()]);
      expect(await compare()).toBe(`turn ${turn}`);
    }
  }, 30_000);
});
