import { describe, expect, it } from "vitest";
import type { Annotations, Hit } from "../resources.ts";
import { agrees, noFilters, questionOf } from "./filter-search.ts";

const hit = (mimeType?: string, annotations?: Annotations): Hit => ({
  resource: {
    uri: "x:///a",
    name: "a",
    ...(mimeType !== undefined && { mimeType }),
    ...(annotations && { annotations }),
  },
  score: 1,
});
const now = Date.parse("2026-11-15T12:00:00Z");

describe("filters", () => {
  it("are written in query syntax, before the typed text", () => {
    const filters = { ...noFilters, kind: "markdown", language: "ja", audience: "user", priority: "0.8", since: "7d" };
    expect(questionOf(" budget ", { ...filters, source: "file:///a" })).toEqual({
      text: "mime:text/markdown lang:ja audience:user priority:0.8 after:7d budget",
      within: "file:///a",
    });
  });

  it("alone are a query, a source alone means everything in it, and nothing is no query", () => {
    expect(questionOf("", { ...noFilters, since: "1d" })).toEqual({ text: "after:1d" });
    expect(questionOf("  ", { ...noFilters, source: "file:///a" })).toEqual({ text: "path:*", within: "file:///a" });
    expect(questionOf("  ", noFilters)).toBeUndefined();
  });

  it("exclude hits that are known not to match, and nothing else", () => {
    const kind = { ...noFilters, kind: "table" };
    expect([hit("text/csv; charset=utf-8"), hit("text/plain"), hit()].map((each) => agrees(each, kind, now))).toEqual([
      true,
      false,
      true,
    ]);
    const since = { ...noFilters, since: "7d" };
    const changed = ["2026-11-14T00:00:00Z", "2026-11-01T00:00:00Z", undefined].map((lastModified) =>
      agrees(hit("a/b", lastModified === undefined ? {} : { lastModified }), since, now),
    );
    expect(changed).toEqual([true, false, true]);
    const priority = { ...noFilters, priority: "0.8" };
    expect([1, 0.8, 0.5].map((each) => agrees(hit("a/b", { priority: each }), priority, now))).toEqual([
      true,
      true,
      false,
    ]);
    const audience = { ...noFilters, audience: "user" };
    expect(agrees(hit("a/b", { audience: ["assistant"] }), audience, now)).toBe(false);
    expect(agrees(hit("a/b", { audience: ["assistant", "user"] }), audience, now)).toBe(true);
    expect(agrees(hit("a/b"), audience, now)).toBe(true);
  });
});
