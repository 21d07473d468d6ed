import { describe, expect, it } from "vitest";
import type { Hit, Resources } from "../../resources.ts";
import { lineOf } from "./line-of.ts";

const text = ["dup", "alpha", "  ", "決済 dup", "beta", "dup", "omega"].join("\n");

async function find(hit: Omit<Hit, "resource" | "score">, body: { text: string } | { bytes: Uint8Array } = { text }) {
  const uri = "notes://a/t.md";
  const resources = { read: async () => ({ contents: [{ uri, body }] }) } as unknown as Resources;
  const call = { caller: { id: "local" }, signal: new AbortController().signal };
  return lineOf({ ...hit, resource: { uri, name: "t.md" }, score: 1 }, resources, call);
}

function within(snippet: string, first: number, last: number, marks: Hit["marks"] = []) {
  return { snippet, lines: [first, last] as const, marks };
}

describe("the line of a result", () => {
  it.each([
    ["is that of the first match", { ...within("alpha\n  \n決済", 2, 5, [[9, 11]]), offset: 4 }, 4],
    ["is found by the snippet without an offset", within("alpha\n  \n決済", 1, 7, [[9, 11]]), 4],
    ["is found by the snippet if the text has changed", { ...within("beta", 1, 7, [[0, 4]]), offset: 4 }, 5],
    ["is found within the lines of the result", within("dup", 3, 5), 4],
    ["is that of the first text if no match is marked", within("\n  \n決済", 1, 7), 4],
    ["is unknown if the snippet is elsewhere", within("omega", 1, 5), undefined],
    ["is unknown if the text lacks the snippet", within("le bateau", 1, 5), undefined],
    ["is the only one", within("le bateau", 5, 5), 5],
    ["is the first one without a snippet", { lines: [3, 7] as const }, 3],
    ["is unknown without lines", { snippet: "beta", offset: 17 }, undefined],
    ["is unknown beyond the text", within("beta", 90, 2 ** 52), undefined],
  ])("%s", async (_, hit, line) => expect(await find(hit)).toBe(line));

  it("is unknown if the text cannot be read", async () => {
    expect(await find(within("beta", 1, 7), { bytes: new Uint8Array(3) })).toBeUndefined();
  });
});
