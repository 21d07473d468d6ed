import { describe, expect, it } from "vitest";
import { createCoalescingQueue } from "../lib/coalescing-queue.ts";
import { changeNotices, mergeNotices, promptsChanged } from "./notices.ts";
import type { PromptSet } from "./prompts.ts";
import type { Notice } from "./shape.ts";

const listChanged: Notice = { kind: "list-changed" };
const reader = () => createCoalescingQueue<Notice>(({ kind }) => kind);
const call = { caller: { id: "me" }, signal: new AbortController().signal };

describe("notices from several places", () => {
  it("come through one", async () => {
    const [one, other] = [reader(), reader()];
    const both = mergeNotices(one, other);
    one.push(listChanged);
    expect(await both.next()).toEqual({ done: false, value: listChanged });
    other.push(promptsChanged);
    expect(await both.next()).toEqual({ done: false, value: promptsChanged });
  });

  it("end with the first that ends, and end the others", async () => {
    const [one, other] = [reader(), reader()];
    const both = mergeNotices(one, other);
    const waiting = both.next();
    await one.return();
    expect((await waiting).done).toBe(true);
    expect((await other.next()).done).toBe(true);
  });

  it("end when they are returned", async () => {
    const [one, other] = [reader(), reader()];
    const both = mergeNotices(one, other);
    const waiting = both.next();
    await both.return?.();
    expect((await waiting).done).toBe(true);
    for (const each of [one, other]) expect((await each.next()).done).toBe(true);
  });

  it("fail with the one that fails", async () => {
    const failing: AsyncIterable<Notice> = {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("lost")) }),
    };
    await expect(mergeNotices(reader(), failing).next()).rejects.toThrow("lost");
  });

  it("are none for prompts that never change", async () => {
    const prompts: PromptSet = { list: async () => [], find: async () => undefined };
    const notices = (await changeNotices(prompts, promptsChanged, call))[Symbol.asyncIterator]();
    expect((await notices.next()).done).toBe(true);
  });
});
