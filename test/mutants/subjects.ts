/** The right sources that the mutants make wrong, each with its setup. */
import { z } from "zod";
import { notFound } from "../../src/errors.ts";
import { createRuntime } from "../../src/server/runtime.ts";
import gcs from "../../src/sources/gcs.ts";
import { createMemory } from "../../src/sources/memory.ts";
import type { Memory, MemoryTemplate } from "../../src/sources/memory.ts";
import { contractContent } from "../../src/testing/index.ts";
import type { SourceSetup } from "../../src/testing/index.ts";
import { startFakeGcs } from "../../src/testing/fakes/gcs.ts";
import type { FakeGcs } from "../../src/testing/fakes/gcs.ts";
import { createKeySource } from "../../src/router/test-key-source.ts";

const greeting: MemoryTemplate = {
  template: "greet/{planet}",
  name: "greeting",
  read({ planet = "" }) {
    if (planet !== "mars" && planet !== "mercury") throw notFound(`greet/${planet}`);
    return [{ body: { text: `hello ${planet}` } }];
  },
  complete: (variable, value) =>
    variable === "planet" ? ["mars", "mercury"].filter((planet) => planet.startsWith(value)) : [],
};

let memory: Memory;
export const memorySubject: SourceSetup = {
  abilities: ["stat", "children", "templates", "complete", "search", "watch"],
  async open(content) {
    memory = createMemory(content as Record<string, string>, { templates: [greeting] });
    return memory.source;
  },
  write: (path, text) => memory.set(path, text),
  remove: (path) => void memory.delete(path),
  rename(from, to) {
    memory.delete(from);
    memory.set(to, "renamed");
  },
  expansions: [{ at: { path: "greet/mars" }, text: "hello mars" }],
  completions: [{ template: greeting.template, variable: "planet", value: "m", expected: "mars", isBest: true }],
  waitMs: 300,
};

let fake: FakeGcs;
/** Objects behind HTTP, watched by polling. */
export const remoteSubject: SourceSetup = {
  abilities: ["stat", "children", "templates", "complete", "watch"],
  async open() {
    fake = await startFakeGcs();
    fake.addBucket("b");
    for (const [name, text] of Object.entries(contractContent)) fake.put("b", name, text ?? "");
    const options = gcs.options(z).parse({ buckets: ["b"], anonymous: true, endpoint: fake.endpoint });
    return gcs.open({ ...options, pollMs: 20 }, createRuntime({ write: () => true }));
  },
  write: (path, text) => void fake.put("b", path, text),
  remove: (path) => fake.remove("b", path),
  clear: () => fake.close(),
  expansions: [{ at: { path: "docs/b.txt", query: { lines: "2-2" } }, text: "with a second line" }],
  completions: [
    {
      template: "{+key}{?generation,lines,bytes}",
      variable: "key",
      value: "docs/",
      expected: "docs/deep/",
      isBest: true,
    },
  ],
  waitMs: 3000,
};

let keys: ReturnType<typeof createKeySource>;
const keyOf = (path: string) => path.replaceAll("/", ":");
/** Keys without an order, some of which are also above others. Pages repeat entries, and some are empty. */
export const keysSubject: SourceSetup = {
  abilities: ["stat", "children", "watch"],
  content: { ...contractContent, "user/1": "one", "user/1/friends": "two", "user/1/friends/3": "three" },
  async open(content) {
    keys = createKeySource([], { emptyPages: 1, repeats: true });
    for (const [path, text] of Object.entries(content)) keys.set(keyOf(path), text);
    return keys.source;
  },
  write: (path, text) => keys.set(keyOf(path), text),
  remove: (path) => keys.delete(keyOf(path)),
  waitMs: 300,
};
