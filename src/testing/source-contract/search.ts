/** The search of the backend. */
import { pathOf, segmentsOf } from "../../source.ts";
import { expectEqual, expectIncludes, expectSome, expectTrue, show } from "../expectations.ts";
import { toAddress } from "./contract-context.ts";
import type { ContractContext } from "./contract-context.ts";

export function testSearch({ addressOf, directories, read, search, setup, test, texts }: ContractContext): void {
  const { text, path: written } = setup.findable ?? { text: "needle-in-a-haystack", path: "docs/deep/er/c.txt" };
  const path = addressOf(written);
  const pathsFor = async (words: string, limit: number, scope?: string) =>
    (await search(words, limit, scope)).map(({ entry }) => entry.path);

  test("finds existing text, with its position", async () => {
    const hits = await search(text, 10);
    expectIncludes(
      hits.map(({ entry }) => entry.path),
      [path],
      `the hits for ${show(text)}`,
    );
    for (const { entry } of hits)
      expectSome(await read(toAddress(entry)), `the content of ${show(entry.path)}, which was found,`);
  });

  test("returns the best first, and no more than requested", async () => {
    for (const words of [text, ...wordsOfMany(texts.map(([, content]) => content))]) {
      const scores = (await search(words, 100)).map(({ score }) => score);
      expectEqual(
        scores,
        [...scores].sort((a, b) => b - a),
        `the scores for ${show(words)}`,
      );
      const { length } = await search(words, 1);
      expectTrue(length <= 1, `the search for ${show(words)} with limit 1 returned ${length} hits`);
    }
  });

  test("stays within the given scope", async () => {
    const scope = pathOf(segmentsOf(path).slice(0, -1));
    expectIncludes(await pathsFor(text, 10, scope), [path], `the hits for ${show(text)} within ${show(scope)}`);
    expectEqual(await pathsFor(text, 10, "no-such-directory"), [], `the hits for ${show(text)} in a missing directory`);
    for (const words of wordsOfMany(texts.map(([, content]) => content)))
      for (const directory of directories)
        for (const found of await pathsFor(words, 100, directory))
          expectTrue(
            found.startsWith(`${directory}/`),
            `the hits for ${show(words)} within ${show(directory)} contain ${show(found)}, which is outside`,
          );
  });

  test("finds nothing that does not exist", async () => {
    const words = "zzqx-no-one-wrote-this-xqzz";
    expectEqual(await pathsFor(words, 10), [], `the hits for ${show(words)}`);
  });
}

/** Some words that occur in more than one text: only several hits show their order. */
function wordsOfMany(texts: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const text of texts)
    for (const word of new Set(text.toLowerCase().match(/[a-z]{4,12}/g))) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].flatMap(([word, count]) => (count > 1 ? [word] : [])).slice(0, 4);
}
