import { describe, expect, it } from "vitest";
import type { Annotations, Resource } from "../../resources.ts";
import { UsageError } from "../command.ts";
import { createFilter, filterFlags, type FilterFlags, toMoment } from "./filters.ts";

const none: FilterFlags = { mime: [], "changed-since": undefined, priority: undefined, audience: undefined };
const resource = (mimeType: string | undefined, annotations?: Annotations): Resource => ({
  uri: "x:y",
  name: "y",
  ...(mimeType !== undefined && { mimeType }),
  ...(annotations && { annotations }),
});

describe("a moment", () => {
  const now = new Date(2026, 10, 15, 12, 30).getTime();

  it.each([
    ["30s", now - 30_000],
    ["15m", now - 15 * 60_000],
    ["2h", now - 2 * 3_600_000],
    ["3d", now - 3 * 86_400_000],
    ["1w", now - 7 * 86_400_000],
    ["today", new Date(2026, 10, 15).getTime()],
    ["yesterday", new Date(2026, 10, 14).getTime()],
    ["2026-11-01", new Date(2026, 10, 1).getTime()],
    ["2026-11-01T14:30", new Date(2026, 10, 1, 14, 30).getTime()],
    ["2026-11-01 14:30:15", new Date(2026, 10, 1, 14, 30, 15).getTime()],
    ["2026-11-01T14:30:00Z", Date.UTC(2026, 10, 1, 14, 30)],
    ["2026-11-01T14:30:00+09:00", Date.UTC(2026, 10, 1, 5, 30)],
  ])("%s is understood", (text, ms) => {
    expect(toMoment(text, now)).toBe(ms);
  });

  it.each(["", "2", "h", "2 hours", "-2h", "2026-13-01", "2026-11", "tomorrow", "1e9d"])("%j is not", (text) => {
    expect(() => toMoment(text, now)).toThrow(UsageError);
  });
});

describe("a filter", () => {
  it("by type takes any of the types, whatever their case and parameters", () => {
    const mime = ["text/*", "IMAGE"].reduce(
      (before, text) => filterFlags.mime.take(text, before),
      filterFlags.mime.initial,
    );
    const passes = createFilter({ ...none, mime });
    const types = [
      "text/plain",
      "Text/Markdown; charset=utf-8",
      "image/png",
      "application/json",
      undefined,
      "x-text/plain",
    ];
    expect(types.map((type) => passes(resource(type)))).toEqual([true, true, true, false, false, false]);
    for (const text of ["", "a/b/c", "text /plain"]) expect(() => filterFlags.mime.take(text, [])).toThrow(UsageError);
  });

  it("by time, by priority and by audience leaves out what does not say, but for the audience", () => {
    const since = createFilter({ ...none, "changed-since": Date.UTC(2026, 0, 1) });
    expect(since(resource("a/b", { lastModified: "2026-01-01T00:00:00Z" }))).toBe(true);
    expect(since(resource("a/b", { lastModified: "2025-12-31T23:59:59Z" }))).toBe(false);
    expect(since(resource("a/b", { lastModified: "no time" }))).toBe(false);
    expect(since(resource("a/b"))).toBe(false);

    const weighty = createFilter({ ...none, priority: 0.5 });
    expect([0.4, 0.5, 1].map((priority) => weighty(resource("a/b", { priority })))).toEqual([false, true, true]);
    expect(weighty(resource("a/b"))).toBe(false);
    expect(createFilter({ ...none, priority: 0 })(resource("a/b"))).toBe(false);

    const forUsers = createFilter({ ...none, audience: "user" });
    expect(forUsers(resource("a/b", { audience: ["assistant"] }))).toBe(false);
    expect(forUsers(resource("a/b", { audience: ["assistant", "user"] }))).toBe(true);
    expect(forUsers(resource("a/b"))).toBe(true);
  });

  it("has to pass every test", () => {
    const passes = createFilter({ ...none, priority: 0.5, audience: "user" });
    expect(passes(resource("a/b", { priority: 1, audience: ["assistant"] }))).toBe(false);
    expect(passes(resource("a/b", { priority: 1, audience: ["user"] }))).toBe(true);
    for (const text of ["", "2", "-1", "x"])
      expect(() => filterFlags.priority.take(text, undefined)).toThrow(UsageError);
  });
});
