import { expect, it } from "vitest";
import { urisOfPath } from "../cli/reading/uris-of-path.ts";
import { notUri } from "../protocol/tools/suggest.ts";
import { createResources } from "../router/create-resources.ts";
import { createMemory } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { encodePath, encodeSegment } from "./encode-path.ts";

const base = "file:///notes/";
const call = { caller: { id: "reader" }, signal: new AbortController().signal };

function serve(paths: readonly string[]) {
  return createResources({
    mounts: [
      { name: "notes", base, source: createMemory(Object.fromEntries(paths.map((path) => [path, "x"]))).source },
    ],
    policy: { maySee: () => true },
    runtime: createClock().runtime,
    cursorKey: new Uint8Array(32),
  });
}

it("writes a path as the router does, whatever characters it has", async () => {
  const ascii = Array.from({ length: 94 }, (_, at) => String.fromCharCode(0x21 + at)).filter((one) => one !== "/");
  const paths = [...ascii.map((one) => `a${one}b/c${one}`), "設計/決済 (1).md", "src/[id]/+page@.ts"];
  const { items } = await serve(paths).list({ limit: 1000 }, call);
  expect(items.map(({ uri }) => uri).toSorted()).toEqual(paths.map((path) => base + encodePath(path)).toSorted());
});

it("escapes a slash inside a segment, and replaces lone surrogates of a path", () => {
  expect(encodeSegment("../a")).toBe("..%2Fa");
  expect(encodePath("a/\ud800")).toBe("a/%EF%BF%BD");
});

it.each(["src/[id]/+page@.ts", "a!'()*/$&,:;=.md", "設計/決済 (1).md", "100%.md"])(
  "gives %s the same URI in a list, a search, a suggestion and a command",
  async (path) => {
    const resources = serve([path]);
    const uri = base + encodePath(path);
    const { items } = await resources.list({}, call);
    const { hits } = await resources.search({ text: "x", limit: 9 }, call);
    expect([...items, ...hits.map(({ resource }) => resource)].map((one) => one.uri)).toEqual([uri, uri]);
    const mounts = [{ name: "notes", base }];
    expect((await notUri(path, { resources, mounts, advice: "" }, call)).message).toContain(`did you mean ${uri} ?`);
    expect(urisOfPath(base, path)[0]).toBe(uri);
  },
);
