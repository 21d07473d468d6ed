/** Skills. */
import { pathOf, segmentsOf } from "../../source.ts";
import type { SourceSkill } from "../../source.ts";
import { expectEqual, expectIncludes, expectTrue, show } from "../expectations.ts";
import { asking } from "../pages.ts";
import { refusal } from "../refusal.ts";
import { addressesOf } from "./contract-context.ts";
import type { ContractContext } from "./contract-context.ts";

export function testSkills(context: ContractContext): void {
  const { aFile, call, directories, everything, known, listAll, method, missing, read, settled, test } = context;
  const allSkills = (limit = 1000): Promise<SourceSkill[]> =>
    everything(
      (cursor) => settled(method("skills")(asking(limit, cursor), call()), "skills", asking(limit, cursor)),
      `the skills, limit ${limit},`,
    );
  const skill = (path: string) => settled(method("skill")({ path }, call()), "skill", path);

  for (const limit of [1, 1000])
    test(`pages are disjoint, ordered by address and together complete, ${limit} at a time`, async () => {
      const found = await allSkills(limit);
      context.inOrder(found, `the skills, limit ${limit},`, undefined);
      const manifests = known.filter((path) => path.endsWith("/SKILL.md"));
      expectIncludes(addressesOf(found), manifests, `the skills, limit ${limit}`);
    });

  test("are named like the last folder of their path, and described", async () => {
    for (const { path, frontMatter } of await allSkills()) {
      expectEqual(segmentsOf(path).slice(-2), [frontMatter.name, "SKILL.md"], `the path of ${show(frontMatter.name)}`);
      expectTrue(frontMatter.description !== "", `the skill ${show(path)} has no description`);
    }
  });

  test("describe their files as they read", async () => {
    const listed = addressesOf(await listAll());
    for (const { path, files } of await allSkills()) {
      if (files === "dynamic") continue;
      const folder = pathOf(segmentsOf(path).slice(0, -1));
      const below = listed.filter((each) => each.startsWith(`${folder}/`));
      expectEqual(addressesOf(files), below, `the files of the skill ${show(path)}`);
      for (const { path: file, digest, size } of files) {
        const [{ body } = { body: { text: "" } }] = await read({ path: file });
        const bytes = "text" in body ? new TextEncoder().encode(body.text) : Uint8Array.from(body.bytes);
        const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
        const hex = Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
        expectEqual([digest, size], [`sha256:${hex}`, bytes.length], `the digest and the size of ${show(file)}`);
      }
    }
  });

  test("are each described on its SKILL.md as in the list", async () => {
    for (const each of await allSkills()) expectEqual(await skill(each.path), each, `the skill ${show(each.path)}`);
  });

  test('anything else throws "not-found"', async () => {
    for (const path of ["", ...missing, ...directories, aFile])
      await refusal(skill(path), ["not-found"], `the skill ${show(path)}`);
  });
}
