import { afterEach, describe, expect, it, vi } from "vitest";
import { spanMs } from "./line-limit.ts";
import { createRuntime, logLevel, logLine } from "./runtime.ts";

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
