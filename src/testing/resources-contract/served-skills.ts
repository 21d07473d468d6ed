/** Skills of a server. */
import { expectEqual, expectIncludes, expectUnique, show } from "../expectations.ts";
import { refusal } from "../refusal.ts";
import { spellingsOf } from "./resources-context.ts";
import type { ResourcesContext } from "./resources-context.ts";

export function testServedSkills(context: ResourcesContext): void {
  const { aFile, call, missing, read, resources, settled, setup, skill, skills, test, uriOf } = context;
  const manifest = uriOf(setup.skill ?? "");

  test("are in pages that are disjoint and together complete", async () => {
    const uris = (await skills()).map(({ uri }) => uri);
    expectUnique(uris, "the skills");
    expectIncludes(uris, [manifest], "the skills");
  });

  test("name all their files, each readable in the stated size", async () => {
    for (const { uri, files } of await skills()) {
      if (files === "dynamic") continue;
      expectIncludes(
        files.map((file) => file.uri),
        [uri],
        `the files of ${uri}`,
      );
      for (const file of files) {
        const [{ body } = { body: { text: "" } }] = (await read(file.uri)).contents;
        const size = "text" in body ? new TextEncoder().encode(body.text).length : body.bytes.length;
        expectEqual(file.size, size, `the stated size of ${file.uri}`);
      }
    }
  });

  test("are each described on its SKILL.md as in the list, under the URI that the caller wrote", async () => {
    const listed = (await skills()).find(({ uri }) => uri === manifest);
    expectEqual((await skill(manifest))?.skill, listed, `the skill ${manifest}, compared with the list`);
    const form = spellingsOf(manifest).at(-1) ?? "";
    const found = (await skill(form))?.skill;
    expectEqual(found?.uri, form, "the URI of the skill");
    const files = found?.files === "dynamic" ? [] : (found?.files ?? []);
    expectIncludes(
      files.map(({ uri }) => uri),
      [form],
      `the files of ${form}`,
    );
  });

  test('anything else throws "not-found"', async () => {
    for (const path of [...missing, aFile]) await refusal(skill(uriOf(path)), ["not-found"], `the skill ${show(path)}`);
    await refusal(skill(`${manifest}?no-such-query=1`), ["not-found"], "the skill with an unknown query");
  });

  test("a cursor that was never returned is invalid", async () => {
    const { next } = await settled(resources().list({}, call()), "list");
    for (const cursor of ["", "never given", ...(next === undefined ? [] : [next])])
      await refusal(settled(resources().skills?.({ cursor }, call()), "skills"), ["invalid"], `the cursor ${cursor}`);
  });
}
