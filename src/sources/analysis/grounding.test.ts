import { expect, it } from "vitest";
import type { Source } from "../../source.ts";
import { collectChanges } from "../../testing/listen.ts";
import { refusal } from "../../testing/refusal.ts";
import { createMemory } from "../memory.ts";
import { useServers } from "./test-server.ts";
import { resultOf } from "./test-results.ts";

const open = useServers();

function library(more: Parameters<typeof open>[0] = {}) {
  const memory = createMemory({ "guide.md": "first edition", "other.md": "another", secret: "hidden" });
  const notes = { name: "notes", base: "notes://", source: memory.source };
  return { memory, ...open({ others: [notes], ...more }) };
}

const grounding = [{ uri: "notes://guide.md" }];

it("a result is dropped when a resource that it rests on changes, through the server's own watch", async () => {
  const { memory, keep, find, pressmark, call, clock, json } = library();
  const changes = collectChanges(await pressmark.watch({ list: true }, call));
  const { id, key } = await keep({ grounding });
  const { id: rest } = await keep({ grounding: [{ uri: "notes://other.md" }] });
  await clock.advance(1000);
  const heard = collectChanges(await pressmark.watch({ uris: [`analysis://results/${id}`] }, call));
  memory.set("guide.md", "second edition");
  await clock.advance(2000);
  await heard.until((change) => change.kind === "updated", "that the result is gone");
  await changes.until((change) => change.kind === "list-changed", "that the list changed");
  await refusal(pressmark.read(`analysis://results/${id}`, call), ["not-found"], "a dropped result");
  expect((await json(`analysis://results/${rest}`)).value.id).toBe(rest);
  expect((await json("analysis://statistics")).value).toMatchObject({ invalidated: 1, results: 1 });

  const anew = await find({ grounding });
  expect(anew).toMatchObject({ status: "compute" });
  expect(anew["key"]).not.toBe(key);
});

it("detects a changed version even if no watch reported it", async () => {
  const { keep, find, memory } = library();
  await keep({ grounding });
  expect(await find({ grounding })).toMatchObject({ status: "hit" });
  memory.set("guide.md", "second edition");
  expect(await find({ grounding, claim: false })).toMatchObject({ status: "miss" });
  memory.set("guide.md", "first edition");
  expect(await find({ grounding })).toMatchObject({ status: "hit" });
});

it("a result is not stored if a resource that it rests on changed during the computation", async () => {
  const { keep, find, memory, json } = library();
  const { lease } = await find({ grounding });
  memory.set("guide.md", "second edition");
  expect(await keep({ lease })).toMatchObject({ status: "outdated" });
  expect((await json("analysis://statistics")).value).toMatchObject({ outdated: 1, results: 0 });
});

it("after a restart the resources that results rest on are checked, and followed again", async () => {
  const first = library();
  await first.keep({ prompt: "changed in the meantime", grounding });
  const { id } = await first.keep({ prompt: "changes later", grounding: [{ uri: "notes://other.md" }] });
  await first.pressmark.close();
  const memory = createMemory({ "guide.md": "second edition", "other.md": "another" });
  const second = open({ path: first.path, others: [{ name: "notes", base: "notes://", source: memory.source }] });
  await second.json("analysis://statistics");
  await second.clock.advance(1000);
  const left = async () =>
    (await second.json("analysis://results?limit=9")).value.results.map((each: { id: string }) => each.id);
  expect(await left()).toEqual([id]);
  memory.delete("other.md");
  await second.clock.advance(2000);
  expect(await left()).toEqual([]);
});

it("a resource removed while nothing watched drops its results, even if callers only look up", async () => {
  const first = library();
  await first.keep({ grounding });
  await first.pressmark.close();
  const memory = createMemory({ "other.md": "another" });
  const second = open({ path: first.path, others: [{ name: "notes", base: "notes://", source: memory.source }] });
  expect(await second.find({ prompt: "something else", claim: false })).toMatchObject({ status: "miss" });
  await second.clock.advance(1000);
  expect((await second.store.tallies()).results).toBe(0);
});

it("other content at the same address for other callers drops nothing", async () => {
  const own: Source = {
    list: async () => ({ items: [] }),
    read: async (_at, { caller }) => [{ body: { text: `the guide of ${caller.id}` } }],
  };
  const { act, call, clock, json } = open({ others: [{ name: "own", base: "own://", source: own }] });
  for (const id of ["ann", "ben"]) {
    const requested = { prompt: "How?", taskType: "basic", grounding: [{ uri: "own://guide" }], result: resultOf() };
    await act("store_analysis", requested, { ...call, caller: { id } });
    await clock.advance(1000);
  }
  expect((await json("analysis://statistics")).value).toMatchObject({ results: 2, invalidated: 0 });
});

it("a resource served elsewhere counts by the version sent, and any reported change drops its results", async () => {
  const { keep, find, memory, clock } = library();
  const elsewhere = [{ uri: "https://example.com/spec", version: "etag-1" }];
  await keep({ grounding: elsewhere });
  expect(await find({ grounding: elsewhere })).toMatchObject({ status: "hit" });
  expect(await find({ grounding: [{ ...elsewhere[0], version: "etag-2" }], claim: false })).toMatchObject({
    status: "miss",
  });
  const own = [{ uri: "notes://guide.md", version: "mine" }];
  await keep({ grounding: own });
  await clock.advance(1000);
  expect(await find({ grounding: own })).toMatchObject({ status: "hit" });
  memory.set("guide.md", "second edition");
  await clock.advance(2000);
  expect(await find({ grounding: own, claim: false })).toMatchObject({ status: "miss" });
});

it("a hidden resource gives the same error as a missing one", async () => {
  const { keep } = library({
    policy: { maySee: (_caller, mount, { path }) => mount !== "notes" || path !== "secret" },
  });
  const requested = (uri: string) => refusal(keep({ grounding: [{ uri }] }), ["invalid"], uri);
  const hidden = await requested("notes://secret");
  const missing = await requested("notes://nowhere");
  expect(hidden.message.replace("secret", "nowhere")).toBe(missing.message);
  expect(hidden.message).toContain('"grounding[0].uri"');
});

it("the same resource twice is rejected", async () => {
  const { keep } = library();
  const { message } = await refusal(keep({ grounding: [...grounding, ...grounding] }), ["invalid"], "twice");
  expect(message).toContain('"grounding[1].uri"');
});
