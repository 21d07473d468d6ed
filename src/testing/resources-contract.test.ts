import { openPolicy } from "../access/policy.ts";
import { withStandardLayers } from "../layers/standard.ts";
import { createResources } from "../router/create-resources.ts";
import type { House } from "../router/create-resources.ts";
import { createTools } from "../server/tools.ts";
import { createMemory } from "../sources/memory.ts";
import type { Memory } from "../sources/memory.ts";
import { resourcesContract } from "./resources-contract.ts";

const tools = createTools({ write: () => true });

let memory: Memory;
let house: House;

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
      const source = withStandardLayers(memory.source, mount, tools);
      house = createResources({
        mounts: [{ ...mount, source }],
        policy: openPolicy,
        tools,
        cursorKey: new Uint8Array(32),
        pageSize,
      });
      return house;
    },
    // encodeURI leaves alone what may stand in a path, and "#" and "?" besides.
    uriOf: (path) => encodeURI(`memory://m/${path}`).replaceAll("#", "%23").replaceAll("?", "%3F"),
    write: (path, text) => memory.set(path, text),
    remove: (path) => void memory.delete(path),
    clear: () => house.close(),
    findable: { text: "needle-in-a-haystack", path: "docs/deep/er/c.txt" },
    completion: { template: "memory://m/greet/{planet}", variable: "planet", value: "m", expected: "mars" },
  });
