import { expect, it } from "vitest";
import { functionDdl } from "./ddl.ts";

it("writes a signature as one line of comment, whatever the names in it", () => {
  const evil = "x\n; DROP TABLE t; --";
  const ddl = functionDdl([
    {
      name: evil,
      kind: "function",
      arguments: `a "${evil}"`,
      returns: `"${evil}"`,
      language: "sql",
      volatility: "stable",
    },
  ]);
  expect(ddl.trimEnd().split(/[\r\n]/)).toEqual([expect.stringMatching(/^-- FUNCTION "x ; DROP/)]);
});
