import { expect, it } from "vitest";
import type { Resource, Resources } from "../../resources.ts";
import type { ReadingContext } from "../reading/reading-context.ts";
import { contentsOf } from "./use-chosen.ts";

/** A server whose list has so many files, each with its URI as text. */
function contextWith(count: number, warnings: string[]): ReadingContext {
  const items = Array.from({ length: count }, (_, at): Resource => ({ uri: `memory://m/docs/${at}`, name: `${at}` }));
  const resources: Pick<Resources, "list" | "read"> = {
    list: async () => ({ items }),
    read: async (uri) => ({ contents: [{ uri, body: { text: uri } }], ttlMs: 0, scope: "private" }),
  };
  const call = { caller: { id: "local", owner: true }, signal: new AbortController().signal };
  return { resources, roots: [], call, warn: (line: string) => warnings.push(line) } as unknown as ReadingContext;
}

it("the contents of a folder with too many files are refused, not cut", async () => {
  const warnings: string[] = [];
  const folder = { uri: "memory://m/docs", name: "docs", path: "docs", isDirectory: true, canOpen: true };
  expect(await contentsOf([folder], "markdown", contextWith(3, warnings))).toContain("memory://m/docs/2");
  await expect(contentsOf([folder], "markdown", contextWith(10_001, warnings))).rejects.toThrow(/see above/);
  expect(warnings).toEqual(['"memory://m/docs" has more than 10,000 files; choose folders inside it']);
});
