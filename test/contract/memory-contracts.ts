/** Both contracts for the memory source, without a word about the runner: `runners.test.ts` runs this file under each of them. */
import { openPolicy } from "../../src/access/policy.ts";
import { createResources } from "../../src/router/create-resources.ts";
import type { LocalResources } from "../../src/router/create-resources.ts";
import { createRuntime } from "../../src/server/runtime.ts";
import { createMemory } from "../../src/sources/memory.ts";
import type { Memory } from "../../src/sources/memory.ts";
import { resourcesContract, sourceContract } from "../../src/testing/index.ts";

let memory: Memory;
let pressmark: LocalResources;

// Without `rename`, so that a test is skipped.
sourceContract("memory", {
  abilities: ["stat", "children", "search", "watch"],
  async open(content) {
    memory = createMemory(content as Record<string, string>);
    return memory.source;
  },
  write: (path, text) => memory.set(path, text),
  remove: (path) => void memory.delete(path),
});

resourcesContract("the router", {
  async open(content) {
    memory = createMemory(content as Record<string, string>);
    pressmark = createResources({
      mounts: [{ name: "m", base: "memory://m/", source: memory.source }],
      policy: openPolicy,
      runtime: createRuntime({ write: () => true }),
      cursorKey: new Uint8Array(32),
    });
    return pressmark;
  },
  uriOf: (path) => encodeURI(`memory://m/${path}`).replaceAll("#", "%23").replaceAll("?", "%3F"),
  write: (path, text) => memory.set(path, text),
  remove: (path) => void memory.delete(path),
  clear: () => pressmark.close(),
  findable: { text: "needle-in-a-haystack", path: "docs/deep/er/c.txt" },
});
