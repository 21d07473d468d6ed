import { describe, expect, it } from "vitest";
import type { Resource } from "../resources.ts";
import { revision20260728 } from "./revisions/2026-07-28.ts";
import { wireResource } from "./shape.ts";
import { encodePage } from "./encode-page.ts";

const { has } = revision20260728;

const resources = (count: number): Resource[] =>
  Array.from({ length: count }, (_, index) => ({
    uri: `file:///日本語/"${index}".txt`,
    name: `"${index}"\u2028🙂.txt`,
    size: index,
    annotations: { lastModified: "2026-11-15T00:00:00.000Z" },
  }));

const textOf = (pieces: readonly (string | Uint8Array)[]): string =>
  Buffer.concat(pieces.map((piece) => Buffer.from(piece))).toString("utf8");

describe("a page", () => {
  it.each([0, 1, 249, 250, 251, 500, 501, 2000])("of %i equals the encoding in one piece", async (count) => {
    const items = resources(count);
    for (const rest of [{}, { nextCursor: "abc", _meta: { a: 1 } }]) {
      const whole = { resources: items.map((resource) => wireResource(resource, has)), ...rest };
      expect(textOf(await encodePage(items, rest, has))).toBe(JSON.stringify(whole));
    }
  });

  it("that is large is no single piece", async () => {
    const pieces = await encodePage(resources(20_000), {}, has);
    for (const piece of pieces) expect(piece.length).toBeLessThan(100_000);
  });
});
