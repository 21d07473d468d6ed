import { expect, it } from "vitest";
import { createResources } from "../router/create-resources.ts";
import { createMemory } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { encodePath, encodeSegment } from "./encode-path.ts";

const base = "memory://shelf/";

it("writes a path as the router does, whatever characters it has", async () => {
  const ascii = Array.from({ length: 94 }, (_, at) => String.fromCharCode(0x21 + at)).filter((one) => one !== "/");
  const paths = [...ascii.map((one) => `a${one}b/c${one}`), "設計/決済 (1).md", "src/[id]/+page@.ts"];
  const { source } = createMemory(Object.fromEntries(paths.map((path) => [path, "x"])));
  const resources = createResources({
    mounts: [{ name: "shelf", base, source }],
    policy: { maySee: () => true },
    runtime: createClock().runtime,
    cursorKey: new Uint8Array(32),
  });
  const call = { caller: { id: "reader" }, signal: new AbortController().signal };
  const { items } = await resources.list({ limit: 1000 }, call);
  expect(items.map(({ uri }) => uri).toSorted()).toEqual(paths.map((path) => base + encodePath(path)).toSorted());
});

it("escapes a slash inside a segment, and replaces lone surrogates of a path", () => {
  expect(encodeSegment("../a")).toBe("..%2Fa");
  expect(encodePath("a/\ud800")).toBe("a/%EF%BF%BD");
});
