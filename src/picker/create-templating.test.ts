import { describe, expect, it } from "vitest";
import { expanded, variablesOf } from "./create-templating.ts";

const of = (uriTemplate: string) => ({ uriTemplate, name: "t" });

describe("a template", () => {
  it("lists its variables in order, each once", () => {
    expect(variablesOf(of("git://r/blob/{ref}{/path*}{?lines,ref}"))).toEqual([
      { name: "ref", isOptional: false, isPath: false },
      { name: "path", isOptional: false, isPath: true },
      { name: "lines", isOptional: true, isPath: false },
    ]);
    expect(variablesOf(of("x://{broken"))).toEqual([]);
  });

  it("expands to a URI, without variables that have no value yet", () => {
    const blob = of("git://r/blob/{ref}{/path*}{?lines}");
    expect(expanded(blob, {}).uri).toBe("git://r/blob/");
    expect(expanded(blob, { ref: "feature/x", path: "docs/予 算.md" }).uri).toBe(
      "git://r/blob/feature%2Fx/docs/%E4%BA%88%20%E7%AE%97.md",
    );
    expect(expanded(of("file:///a/{+path}{?lines}"), { path: "b/c.md", lines: "1-2" }).uri).toBe(
      "file:///a/b/c.md?lines=1-2",
    );
    expect(expanded(of("x://{broken"), {})).toMatchObject({
      uri: "x://{broken",
      problem: expect.stringContaining("is not closed"),
    });
  });
});
