import { describe, expect, it } from "vitest";
import { notFound, QuotaError, ResourceError, toResourceError } from "./errors.ts";

describe("an error", () => {
  it("of another copy of this package is one of ours", async () => {
    const copy = (await import(
      /* @vite-ignore */ new URL("./errors.ts?copy", import.meta.url).href
    )) as typeof import("./errors.ts");
    const foreign = copy.notFound("a");
    expect(copy.ResourceError).not.toBe(ResourceError);
    expect(foreign).toBeInstanceOf(ResourceError);
    expect(toResourceError(foreign)).toBe(foreign);
  });

  it("is of its own kind only, and nothing else is", () => {
    expect(new QuotaError("reads", "x", 1)).toBeInstanceOf(ResourceError);
    expect(new QuotaError("reads", "x", 1)).toBeInstanceOf(QuotaError);
    expect(notFound("a")).not.toBeInstanceOf(QuotaError);
    for (const other of [new Error("a"), { kind: "not-found" }, null, "a"])
      expect(other).not.toBeInstanceOf(ResourceError);
  });
});
