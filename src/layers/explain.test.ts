import { describe, expect, it } from "vitest";
import { notFound, ResourceError } from "../errors.ts";
import type { Source } from "../source.ts";
import { refusal } from "../testing/refusal.ts";
import { explain, explained, whereOf } from "./explain.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };

function throwing(thrown: unknown): Source {
  const fail = async () => {
    throw thrown;
  };
  return explain()({ list: fail, read: fail }, { name: "reports" });
}

describe("explain", () => {
  it("leaves a ResourceError unchanged and records its mount and operation", async () => {
    const missing = notFound("2026/q3.csv");
    const error = await refusal(throwing(missing).read({ path: "2026/q3.csv" }, call), ["not-found"], "q3");
    expect(error).toBe(missing);
    expect(whereOf(error)).toEqual({ mount: "reports", operation: "read" });
    expect(explained(error)).toBe('not-found: no resource at "2026/q3.csv"  (mount "reports", read)');
  });

  it("adds nothing to the message that would distinguish missing from hidden", async () => {
    const error = await refusal(throwing(notFound("a")).read({ path: "a" }, call), ["not-found"], "a");
    expect(error.message).toBe(notFound("a").message);
    expect(JSON.stringify(error.details ?? {})).not.toContain("reports");
  });

  it.each([new Error("ENOENT: /secret/path"), "a string", undefined])(
    "turns %j into unexpected with its cause",
    async (cause) => {
      const error = await refusal(throwing(cause).list({ limit: 1 }, call), ["unexpected"], "list");
      expect(error.cause).toBe(cause);
      expect(error.message).not.toContain("secret");
      expect(explained(error)).toContain('(mount "reports", list)');
    },
  );

  it("reports cancelled only when the caller has left", async () => {
    const gaveUp = new DOMException("The operation was aborted", "AbortError");
    await refusal(throwing(gaveUp).read({ path: "a" }, { ...call, signal: AbortSignal.abort() }), ["cancelled"], "a");
    const error = await refusal(throwing(gaveUp).read({ path: "a" }, call), ["unavailable"], "a");
    expect(error.passing).toBe(true);
  });

  it("formats an error that no mount threw without a mount", () => {
    expect(explained(new ResourceError("invalid", "a wrong cursor"))).toBe("invalid: a wrong cursor");
  });
});
