import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { openPolicy } from "../access/policy.ts";
import type { Policy } from "../access/policy.ts";
import type { Call, ListFilter, Resource } from "../resources.ts";
import { createMemory } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { createResources } from "./create-resources.ts";

const call: Call = { caller: { id: "me" }, signal: new AbortController().signal };
const even = { namePatterns: ["*0", "*2", "*4", "*6", "*8"] };

/** 100 files in each of two mounts, in pages of 8. */
function open(policy: Policy = openPolicy) {
  const files = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`d/${String(at).padStart(3, "0")}`, "x"]));
  const mounts = ["one", "two"].map((name) => ({
    name,
    base: `${name}://`,
    source: createMemory(files, { templates: [{ template: "{+path}{?lines}", name: `of ${name}`, read: () => [] }] })
      .source,
  }));
  const { runtime } = createClock();
  return createResources({ mounts, policy, runtime, cursorKey: new Uint8Array(32), pageSize: 8 });
}

async function pagesOf(resources: ReturnType<typeof open>, filter: ListFilter) {
  const pages: { items: readonly Resource[]; filteredOut?: number }[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await resources.list(cursor === undefined ? { filter } : { cursor, filter }, call);
    pages.push(page);
    if (page.next === undefined) return pages;
    cursor = page.next;
  }
}

async function templateNames(filter: ListFilter): Promise<string[]> {
  return (await open().templates({ filter }, call)).items.map(({ name }) => name);
}

it("pages of a filtered list are as full as those of any list, and together complete", async () => {
  const pages = await pagesOf(open(), even);
  const uris = pages.flatMap(({ items }) => items.map(({ uri }) => uri));
  expect(uris).toHaveLength(100);
  expect(new Set(uris).size).toBe(100);
  expect(uris.every((uri) => Number(uri.slice(-3)) % 2 === 0)).toBe(true);
  expect(pages.slice(0, -1).map(({ items }) => items.length)).toEqual([8, 16, 32]);
  expect(pages.reduce((sum, { filteredOut = 0 }) => sum + filteredOut, 0)).toBe(100);
});

it("a filter sees only what the caller may see", async () => {
  const policy: Policy = { maySee: (_caller, mount, { path }) => mount === "one" && !path.endsWith("0") };
  const pages = await pagesOf(open(policy), even);
  expect(pages.flatMap(({ items }) => items)).toHaveLength(40);
  // Hidden entries are not counted as left out.
  expect(pages.reduce((sum, { filteredOut = 0 }) => sum + filteredOut, 0)).toBe(50);
});

it("a cursor is valid only with the filter of its page", async () => {
  const resources = open();
  const { next: filtered } = await resources.list({ filter: even }, call);
  const { next: whole } = await resources.list({}, call);
  await resources.list({ cursor: filtered, filter: { ...even, uriPatterns: [] } }, call);
  for (const request of [
    { cursor: filtered },
    { cursor: filtered, filter: { namePatterns: ["*"] } },
    { cursor: filtered, filter: { uriPatterns: even.namePatterns } },
    { cursor: whole, filter: even },
  ])
    await expect(resources.list(request, call)).rejects.toMatchObject({ kind: "invalid" });
});

it("templates are filtered by their name and their text", async () => {
  expect(await templateNames({ namePatterns: ["* two"] })).toEqual(["of two"]);
  expect(await templateNames({ uriPatterns: ["one://{+path}{?lines}"] })).toEqual(["of one"]);
  expect(await templateNames({ uriPatterns: ["three:*"] })).toEqual([]);
});

it("lets other work run after each entry that takes long, and ends soon after it is cancelled", async () => {
  const count = 12;
  const names = Array.from({ length: count }, (_, at) =>
    Array.from({ length: 4 }, (_each, part) => createHash("sha256").update(`${at} ${part}`).digest("hex")).join(""),
  );
  const { source } = createMemory(Object.fromEntries(names.map((name) => [name, "x"])));
  const mounts = [{ name: "one", base: "one://", source }];
  const { runtime } = createClock();
  const resources = createResources({ mounts, policy: openPolicy, runtime, cursorKey: new Uint8Array(32) });
  // Thousands of states that are hardly ever the same: several milliseconds for each name.
  const filter = {
    uriPatterns: [
      ...Array.from({ length: 12 }, (_, at) => `${"?*".repeat(120)}${at}zzzz`),
      ...Array.from("0123456789abcdef", (digit) => `*${digit}${"?".repeat(60)}`),
    ],
  };
  let turns = 0;
  const cancelling = new AbortController();
  const turn = (): void => {
    turns += 1;
    if (turns === count / 2) cancelling.abort();
    if (turns < count * 10) timer = setImmediate(turn);
  };
  let timer = setImmediate(turn);
  await expect(resources.list({ filter }, { ...call, signal: cancelling.signal })).rejects.toMatchObject({
    kind: "cancelled",
  });
  clearImmediate(timer);
});
