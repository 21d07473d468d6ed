import { expect, it } from "vitest";
import { invalid, ResourceError } from "../errors.ts";
import { linesOf } from "../lib/line-range-uri.ts";
import type { Content } from "../resources.ts";
import { createPartReader, firstLineOf, hasLine, startFor } from "./create-part-reader.ts";

const uri = "a:b";
const call = { caller: { id: "test" }, signal: new AbortController().signal };

/** A text of so many lines, of which each read gives at most 400. The long line is too long for one read. */
function readerOf(total: number, longLine = Infinity) {
  const requested: string[] = [];
  const reader = createPartReader(async (at): Promise<readonly Content[]> => {
    requested.push(at);
    const lines = linesOf(at);
    if (!lines) {
      const details = { ranges: [`${uri}?lines=1-1000`] };
      throw new ResourceError("too-large", "too large", { details });
    }
    const [first, wanted] = lines;
    if (first > total) throw invalid("no such line");
    if (first === longLine) return [contentOf(at, "x", { bytes: [0, 1] })];
    const last = Math.min(wanted, first + 399, total, longLine - 1);
    const next = last < total ? { next: `lines=${last + 1}-${last < wanted ? wanted : last + 1000}` } : {};
    return [contentOf(at, "line\n".repeat(last - first + 1), { lines: [first, last], ...next })];
  });
  return { ...reader, requested };
}

function contentOf(at: string, text: string, range: object): Content {
  return { uri: at, body: { text }, meta: { "pressmark/range": range } };
}

function lineCount(contents: readonly Content[]): number {
  return contents.reduce((sum, { body }) => sum + ("text" in body ? body.text.split("\n").length - 1 : 0), 0);
}

it("a large resource is read from the requested line on, then before and after it", async () => {
  const { firstPart, linesBefore } = readerOf(9000);
  const part = await firstPart(uri, startFor([5000, 5003]), call);
  const state = { ...part, resource: { uri, name: "b" } } as Parameters<typeof hasLine>[0];
  expect(part).toMatchObject({ isPartial: true, previous: `${uri}?lines=3501-4500`, next: `${uri}?lines=4901-5500` });
  expect([firstLineOf(part), hasLine(state, 4500), hasLine(state, 4501), hasLine(state, 4901)]).toEqual([
    4501,
    false,
    true,
    false,
  ]);
  const before = await linesBefore(part.previous!, call);
  expect(lineCount(before!.contents)).toBe(1000);
  expect(before!.previous).toBe(`${uri}?lines=2501-3500`);
  expect((await linesBefore(`${uri}?lines=1-500`, call))!.previous).toBeUndefined();
});

it("it is read from the beginning if the line is near, gone, or too long for one read", async () => {
  expect([startFor(undefined), startFor([1000, 1000])]).toEqual([1, 1]);
  for (const { firstPart } of [readerOf(1200), readerOf(9000, 4501)]) {
    const part = await firstPart(uri, 4501, call);
    expect([part.previous, firstLineOf(part), lineCount(part.contents)]).toEqual([undefined, 1, 400]);
  }
  expect(await readerOf(9000, 3700).linesBefore(`${uri}?lines=3501-4500`, call)).toBeUndefined();
});
