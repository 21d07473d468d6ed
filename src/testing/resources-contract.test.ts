import { openPolicy } from "../access/policy.ts";
import { withStandardLayers } from "../layers/standard.ts";
import { createResources } from "../router/create-resources.ts";
import type { LocalResources } from "../router/create-resources.ts";
import { createRuntime } from "../server/runtime.ts";
import { createMemory } from "../sources/memory.ts";
import type { Memory } from "../sources/memory.ts";
import { resourcesContract } from "./resources-contract.ts";

const runtime = createRuntime({ write: () => true });

let memory: Memory;
let pressmark: LocalResources;

for (const pageSize of [1, 3, 1000])
  resourcesContract(`the router, ${pageSize} to a page,`, {
    async open(content) {
      memory = createMemory(content as Record<string, string>, {
        templates: [
          {
            template: "greet/{planet}",
            name: "greeting",
            read: ({ planet = "" }) => [{ body: { text: planet } }],
            complete: (variable) => (variable === "planet" ? ["mars"] : []),
          },
        ],
      });
      const mount = { name: "m", base: "memory://m/" };
      const source = withStandardLayers(memory.source, mount, runtime);
      pressmark = createResources({
        mounts: [{ ...mount, source }],
        policy: openPolicy,
        runtime,
        cursorKey: new Uint8Array(32),
        pageSize,
      });
      return pressmark;
    },
    // encodeURI leaves valid path characters unchanged, and also "#" and "?".
    uriOf: (path) => encodeURI(`memory://m/${path}`).replaceAll("#", "%23").replaceAll("?", "%3F"),
    write: (path, text) => memory.set(path, text),
    remove: (path) => void memory.delete(path),
    clear: () => pressmark.close(),
    findable: { text: "needle-in-a-haystack", path: "docs/deep/er/c.txt" },
    completion: { template: "memory://m/greet/{planet}", variable: "planet", value: "m", expected: "mars" },
  });
