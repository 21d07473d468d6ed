import { afterEach, describe, expect, it, vi } from "vitest";
import { spanMs } from "./line-limit.ts";
import { RequestScope, runInScope } from "../lib/request-scope.ts";
import { createRuntime, logFormat, logLevel, logLine } from "./runtime.ts";

describe("the log", () => {
  it("is one readable line per event", () => {
    expect(
      logLine("warn", "the mount cannot be listed", {
        mount: "docs",
        cause: new Error("no\nreply"),
        unknown: undefined,
      }),
    ).toBe('pressmark warn: the mount cannot be listed (mount "docs", cause "no\\nreply")\n');
    expect(logLine("info", "a name\u001b[2J\nwith more")).toBe("pressmark info: a name [2J with more\n");
  });

  it("is never long, and takes any fact", () => {
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    const line = logLine("error", "x".repeat(10_000), { long: "y".repeat(10_000), circle, big: 10n, none: null });
    expect(line.length).toBeLessThan(1200);
    expect(line).toContain("none null");
    expect(line).toContain('big "10"');
    expect(line.trimEnd()).not.toContain("\n");
    const facts = {
      proxy: new Proxy({}, { getPrototypeOf: fails, get: fails }),
      text: { toJSON: fails, toString: fails },
    };
    expect(logLine("error", "x", facts)).toBe(
      'pressmark error: x (proxy "a value that cannot be shown", text "a value that cannot be shown")\n',
    );
  });

  it("shows characters that reverse or hide text", () => {
    expect(logLine("warn", "a\u202eb 札幌", { name: "c\u200bd" })).toBe(
      String.raw`pressmark warn: a\u202eb 札幌 (name "c\u200bd")` + "\n",
    );
  });

  it("is JSON where that is configured: one object per line, of plain values", () => {
    const lines: string[] = [];
    const runtime = createRuntime({ write: (line: string) => lines.push(line) > 0 }, "info", {}, "json");
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    const facts = {
      mount: "docs",
      cause: new Error("no\nreply"),
      count: 3,
      none: undefined,
      big: 10n,
      circle,
      message: "m",
    };
    runtime.log("warn", "a name\u001b[2J\nwith more", facts);
    runtime.log("info", "x".repeat(10_000));
    expect(lines.every((line) => line.indexOf("\n") === line.length - 1 && line.length < 1200)).toBe(true);
    const [first, second] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(first).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      level: "warn",
      message: "a name\u001b[2J\nwith more",
      facts: { mount: "docs", cause: "no\nreply", count: 3, big: "10", circle: "[object Object]", message: "m" },
    });
    expect(second).not.toHaveProperty("facts");
  });

  it("names the request that a line belongs to, until the request has ended", () => {
    const lines: string[] = [];
    const write = (line: string) => lines.push(line) > 0;
    const [text, json] = [createRuntime({ write }, "info", {}, "text"), createRuntime({ write }, "info", {}, "json")];
    const scope = new RequestScope("r-1");
    runInScope(scope, () => {
      text.log("warn", "slow", { mount: "docs" });
      json.log("warn", "slow");
      scope.isOpen = false;
      text.log("warn", "later");
    });
    expect(lines[0]).toBe('pressmark warn: slow (mount "docs", request "r-1")\n');
    expect(JSON.parse(lines[1]!)).toMatchObject({ message: "slow", requestId: "r-1" });
    expect(lines[2]).toBe("pressmark warn: later\n");
  });

  it("reads its format from the environment", () => {
    expect([
      logFormat({ PRESSMARK_LOG_FORMAT: "json" }),
      logFormat({ PRESSMARK_LOG_FORMAT: "xml" }),
      logFormat({}),
    ]).toEqual(["json", "text", "text"]);
  });

  it("drops lines below the configured level", () => {
    const lines: string[] = [];
    const runtime = createRuntime(
      { write: (line: string) => lines.push(line) > 0 },
      logLevel({ PRESSMARK_LOG: "error" }),
    );
    runtime.log("warn", "quiet");
    runtime.log("error", "loud");
    expect(lines).toEqual(["pressmark error: loud\n"]);
    expect(logLevel({})).toBe("warn");
    expect(logLevel({ PRESSMARK_LOG: "nonsense" })).toBe("warn");
  });
});

function standStill() {
  vi.useFakeTimers();
  const lines: string[] = [];
  return { lines, runtime: createRuntime({ write: (line: string) => lines.push(line) > 0 }) };
}

describe("a repeated log line", () => {
  afterEach(() => void vi.useRealTimers());

  it("is written ten times a minute, and then counted, whatever else stands in the line", () => {
    const { lines, runtime } = standStill();
    for (let index = 0; index < 1000; index += 1)
      runtime.log("warn", "refused", { mount: "docs", path: `docs://${index}` });
    expect(lines).toHaveLength(10);
    expect(lines[9]).toBe('pressmark warn: refused (mount "docs", path "docs://9")\n');
    vi.advanceTimersByTime(spanMs);
    expect(lines.slice(10)).toEqual(['pressmark warn: refused (mount "docs", times more 990)\n']);
    runtime.log("warn", "refused", { mount: "docs", path: "docs://again" });
    expect(lines).toHaveLength(12);
    vi.advanceTimersByTime(spanMs);
    expect(lines).toHaveLength(12);
  });

  it("does not suppress other mounts, messages or levels", () => {
    const { lines, runtime } = standStill();
    for (let index = 0; index < 100; index += 1) runtime.log("warn", "refused", { mount: "docs" });
    runtime.log("warn", "refused", { mount: "notes" });
    runtime.log("warn", "lost", { mount: "docs" });
    runtime.log("error", "refused", { mount: "docs" });
    expect(lines).toHaveLength(13);
  });

  it("does not suppress what else was requested of the mount", () => {
    const { lines, runtime } = standStill();
    const fail = (asked: string, uri: string) =>
      runtime.log("error", "the source failed", { mount: "docs", asked, uri });
    for (let index = 0; index < 50; index += 1) fail("read", "docs://a");
    fail("read", "docs://b");
    for (let index = 0; index < 50; index += 1) fail("find", "docs://");
    fail("send", "docs://");
    expect(lines).toHaveLength(10 + 1 + 10 + 1);
    vi.advanceTimersByTime(spanMs);
    expect(lines.slice(22)).toEqual([
      'pressmark error: the source failed (mount "docs", asked "read", times more 40)\n',
      'pressmark error: the source failed (mount "docs", asked "find", times more 40)\n',
    ]);
  });

  it("is written at most a hundred times a minute for URIs that a caller makes up", () => {
    const { lines, runtime } = standStill();
    const fail = (asked: string, uri: string) =>
      runtime.log("error", "the source failed", { mount: "docs", asked, uri });
    for (let index = 0; index < 5000; index += 1) fail("read", `docs://${index}`);
    fail("find", "docs://");
    expect(lines).toHaveLength(101);
  });

  it("uses bounded memory", () => {
    const { lines, runtime } = standStill();
    for (let index = 0; index < 5000; index += 1) runtime.log("warn", `${index}`);
    expect(lines).toHaveLength(1010);
    vi.advanceTimersByTime(spanMs);
    runtime.log("warn", "heard again");
    expect(lines.at(-1)).toBe("pressmark warn: heard again\n");
  });
});

function fails(): never {
  throw new Error("this member fails");
}
