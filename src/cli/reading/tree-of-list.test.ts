import { expect, it } from "vitest";
import { openPolicy } from "../../access/policy.ts";
import { createResources } from "../../router/create-resources.ts";
import { createKeySource } from "../../router/test-key-source.ts";
import { createClock } from "../../testing/clock.ts";
import { descend, openDirectory } from "./descend.ts";
import { childrenOf, ofMount } from "./find.ts";
import type { ReadingContext } from "./reading-context.ts";
import { withTreeOfList } from "./tree-of-list.ts";

const root = { name: "k", uri: "k://k", base: "k://k/", acceptsPaths: false, isKeyStore: true };

function open(keys: readonly string[]) {
  const { source, calls } = createKeySource(keys, { repeats: true, maxPage: 3 });
  const { runtime } = createClock();
  const mounts = [{ name: "k", base: root.base, source }];
  const resources = createResources({
    mounts,
    policy: openPolicy,
    runtime,
    cursorKey: new Uint8Array(32),
    pageSize: 3,
  });
  const call = { caller: { id: "me" }, signal: new AbortController().signal };
  const context = { resources, call, roots: [root], seen() {}, warn() {}, watchAll() {} };
  return { calls, context: context as unknown as ReadingContext };
}

async function walk(context: ReadingContext, start: string, depth: number): Promise<string[]> {
  const { children } = await openDirectory(childrenOf(start, context), { all: false });
  const lines: string[] = [];
  for await (const each of descend(children, { depth, dirs: false, all: false }, context))
    lines.push(`${each.resource.uri} ${each.resource.mimeType} ${each.children?.length ?? "-"}`);
  return lines.sort();
}

const keys = ["user:1", "user:1:friends", "user:1:friends:2", "user:2", "group:a:members", "x", "b::c", "b:"];
const options = { maxChildren: 1001 };

it.each([
  ["k://k", "k://k/", Infinity],
  ["k://k", "k://k/", 1],
  ["k://k", "k://k/", 2],
  ["k://k/user", "k://k/user/", 2],
  ["k://k/user/1", "k://k/user/1/", 1],
])("is the tree of the directories below %s (prefix %s, depth %s), with one walk", async (start, prefix, depth) => {
  const plain = await walk(open(keys).context, start, depth);
  const { calls, context } = open(keys);
  const listed = await withTreeOfList(ofMount(root, context), { start, prefix }, { ...options, depth }, context);
  expect(await walk(listed, start, depth)).toEqual(plain);
  expect(plain.length).toBeGreaterThan(0);
  expect(calls.children).toBe(0);
});

it("keeps a limited number of children", async () => {
  const { context } = open(Array.from({ length: 50 }, (_, index) => `many:${index}`));
  const given = { start: "k://k", prefix: "k://k/" };
  const listed = await withTreeOfList(ofMount(root, context), given, { depth: Infinity, maxChildren: 10 }, context);
  expect((await openDirectory(childrenOf("k://k/many", listed), { all: true })).children).toHaveLength(10);
});

it("names each child of a directory without order once", async () => {
  const { context } = open(Array.from({ length: 50 }, (_, index) => `many:${index}`));
  const { children } = await openDirectory(childrenOf("k://k/many", context), { all: true });
  expect(children).toHaveLength(50);
});
