import fc from "fast-check";
import { expect, it } from "vitest";
import { createRoutes } from "./router/route.ts";
import { pathOf, segmentsOf } from "./source.ts";
import { createMemory } from "./sources/memory.ts";

const routes = createRoutes(
  ["keys://", "keys2://store/", "opaque:"].map((base) => ({ name: base, base, source: createMemory().source })),
);
const segment = fc.oneof(
  fc.constantFrom("", "/", "//", "a/b", "..a", "...", ". ", "日本", "%2F", "a:b@c", "?", "#"),
  fc.string({ unit: "grapheme", maxLength: 4 }),
);
const segments = fc
  .array(segment, { maxLength: 5 })
  .filter((all) => all.every((each) => !each.includes("\0") && each.isWellFormed() && each !== "." && each !== ".."))
  .filter((all) => all.length !== 1 || all[0] !== "");

it("segments, path, URI and back are the same, with empty segments and slashes anywhere", () => {
  fc.assert(
    fc.property(fc.constantFrom(...routes.mounts), segments, (mount, all) => {
      const path = pathOf(all);
      expect(segmentsOf(path)).toEqual(all);
      const uri = routes.format(mount, { path });
      // Two slashes after a scheme alone would begin an authority.
      if (mount.base === "opaque:" && path.startsWith("//")) expect(uri).toBeUndefined();
      else expect(segmentsOf(routes.find(uri ?? "")?.at.path ?? "missing")).toEqual(all);
    }),
    {
      numRuns: 2000,
      examples: [
        [routes.mounts[0]!, ["", "a"]],
        [routes.mounts[1]!, ["", "", ""]],
      ],
    },
  );
});

it("a single empty segment is not the mount itself", () => {
  expect(() => pathOf([""])).toThrow(expect.objectContaining({ kind: "invalid" }));
  expect([pathOf([]), pathOf(["", ""])]).toEqual(["", "/"]);
});

it.each([".", "..", "%2e", "%2E%2e", ".%2e"])("the segment %s is refused at every place", (dots) => {
  for (const rest of [dots, `a/${dots}`, `${dots}/a`, `a/${dots}/b`, `/${dots}`])
    expect(routes.find(`keys2://store/${rest}`), rest).toBeUndefined();
});
