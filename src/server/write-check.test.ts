import { expect, it } from "vitest";
import type { Tool } from "../protocol/tools.ts";
import { createWriteCheck } from "./write-check.ts";

const tool = (name: string, readOnlyHint?: boolean): Tool => ({
  name,
  inputSchema: {},
  ...(readOnlyHint !== undefined && { annotations: { readOnlyHint } }),
  call: async () => ({ content: [] }),
});
const caller = { id: "ann" };
const calling = (...names: readonly unknown[]) => names.map((name) => ({ method: "tools/call", params: { name } }));

it("counts every tool as writing that is not known to be read-only", async () => {
  const relayed = { now: [tool("look", true), tool("change", false), tool("unmarked")] };
  const writes = createWriteCheck({
    tools: [tool("search_resources", true), tool("save_set", false)],
    moreTools: { list: async () => relayed.now },
  });
  expect(await writes(caller, calling("search_resources", "look"))).toBe(false);
  for (const name of ["save_set", "change", "unmarked", "other", undefined, 5])
    expect(await writes(caller, calling("look", name)), String(name)).toBe(true);
  expect(writes(caller, { method: "tools/list" })).toBeUndefined();
  // The list of a server that is slow or gone is empty, but its tools may run soon after.
  relayed.now = [];
  expect(await writes(caller, calling("change"))).toBe(true);
  expect(await writes(caller, calling("search_resources"))).toBe(false);
});
