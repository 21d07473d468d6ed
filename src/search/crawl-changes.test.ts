import { describe, expect, it } from "vitest";
import { ResourceError } from "../errors.ts";
import type { IndexedChanges, Source, SourceChange } from "../source.ts";
import { createMemory, type Memory } from "../sources/memory.ts";
import { begin, crawls, found, isComplete, once, stopThenGrow, stored, useCrawls } from "./test-crawls.ts";

useCrawls();

/** A source that reports these changes, one report for each request. */
function changing(memory: Memory, answers: IndexedChanges[]) {
  const asked: (string | undefined)[] = [];
  let lists = 0;
  const source: Source = {
    ...memory.source,
    list(ask, call) {
      lists += 1;
      return memory.source.list(ask, call);
    },
    async indexedSince(state) {
      asked.push(state);
      return answers.shift()!;
    },
  };
  return { source, asked, lists: () => lists };
}

const unchanged: IndexedChanges = { changes: [] };

describe("a source that knows what has changed since the index was complete", () => {
  it("is not listed again, and only what has changed is read", async () => {
    const memory = createMemory({ "a.md": "kettle", "b.md": "whistle" });
    const changes: SourceChange[] = [
      { kind: "changed", path: "a.md" },
      { kind: "gone", path: "b.md" },
    ];
    const first = changing(memory, [{ state: "one" }, unchanged]);
    await once(first.source);
    expect([first.asked, first.lists()]).toEqual([[undefined, "one"], 2]);
    memory.set("a.md", "teapot");
    const next = changing(memory, [{ state: "two", changes }]);
    await once(next.source);
    expect([next.asked, next.lists()]).toEqual([["one"], 0]);
    expect([stored(), found("teapot"), found("kettle")]).toEqual([["a.md"], ["a.md"], []]);
    const last = changing(memory, [{ state: "two", changes: [] }]);
    await once(last.source);
    expect([last.asked, last.lists()]).toEqual([["two"], 0]);
  });

  it("is listed again if it does not know, if a text could not be read, or if the index was full", async () => {
    const memory = createMemory({ "a.md": "kettle" });
    await once(changing(memory, [{ state: "one" }]).source, { mayGrow: () => false });
    const broken = changing(memory, [{ state: "two", changes: [] }]);
    await once({
      ...broken.source,
      read() {
        throw new ResourceError("unavailable", "down");
      },
    });
    expect([broken.asked, broken.lists()]).toEqual([[undefined], 1]);
    const unknown = changing(memory, [{}]);
    await once(unknown.source);
    expect([unknown.asked, unknown.lists(), found("kettle")]).toEqual([[undefined], 1, ["a.md"]]);
  });

  it("is listed again if the process stopped in the pass that its answer required", async () => {
    const memory = createMemory({ "a.md": "kettle" });
    await once(changing(memory, [{ state: "one" }, unchanged]).source);
    memory.set("a.md", "teapot");
    const lost = changing(memory, [{ state: "two", changes: [{ kind: "lost" }] }, { state: "two" }]);
    await once({
      ...lost.source,
      async list() {
        crawls.stop.abort();
        throw new Error("stopped");
      },
    });
    crawls.stop = new AbortController();
    const next = changing(memory, [{ state: "two" }, unchanged]);
    await once(next.source);
    expect([lost.asked[0], next.asked, found("teapot")]).toEqual(["one", [undefined, "two"], ["a.md"]]);
  });

  it("is listed again if it changed while it was listed, or if a pass over its changes was stopped", async () => {
    const memory = createMemory({ "a.md": "kettle" });
    await once(
      changing(memory, [{ state: "one" }, { state: "two", changes: [{ kind: "changed", path: "a.md" }] }]).source,
    );
    const again = changing(memory, [{ state: "two" }, unchanged]);
    await once(again.source);
    expect([again.asked, again.lists()]).toEqual([[undefined, "two"], 1]);
    memory.set("b.md", "quokka");
    const stopped = changing(memory, [{ state: "three", changes: [{ kind: "appeared", path: "b.md" }] }]);
    await once(stopped.source, { mayGrow: stopThenGrow });
    expect(found("quokka")).toEqual(["b.md"]);
    crawls.stop = new AbortController();
    memory.delete("b.md");
    const last = changing(memory, [{ state: "two" }, unchanged]);
    await once(last.source);
    expect([last.asked, found("quokka")]).toEqual([[undefined, "two"], []]);
  });

  it("is listed by the next process after one that followed its changes", async () => {
    const memory = createMemory({ "a.md": "kettle" });
    await once(changing(memory, [{ state: "one" }, unchanged]).source);
    const { crawl, until } = begin(changing(memory, [{ state: "one", changes: [] }]).source);
    await until(isComplete);
    memory.set("b.md", "quokka");
    crawl.hear([{ kind: "appeared", path: "b.md" }]);
    await until((now) => isComplete(now) && found("quokka").length > 0);
    crawls.stop.abort();
    crawls.stop = new AbortController();
    memory.delete("b.md");
    const next = changing(memory, [{ state: "one", changes: [] }, unchanged]);
    await once(next.source);
    expect([next.asked[0], found("quokka")]).toEqual([undefined, []]);
  });
});
