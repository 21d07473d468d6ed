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
    expect(toResourceError(foreign)).toMatchObject({ kind: "not-found", message: 'no resource at "a"' });
    const full = new copy.ResourceError("busy", "later", { passing: true, details: { retryAfterMs: 5 } });
    expect(toResourceError(full)).toMatchObject({ kind: "busy", passing: true, details: { retryAfterMs: 5 } });
  });

  it("is of its own kind only, and nothing else is", () => {
    expect(new QuotaError("reads", "x", 1)).toBeInstanceOf(ResourceError);
    expect(new QuotaError("reads", "x", 1)).toBeInstanceOf(QuotaError);
    expect(notFound("a")).not.toBeInstanceOf(QuotaError);
    for (const other of [new Error("a"), { kind: "not-found" }, null, "a"])
      expect(other).not.toBeInstanceOf(ResourceError);
  });

  it("has details that can be written as JSON", () => {
    const big = new ResourceError("too-large", "it is large", { details: { bytes: 10n, rows: 2n ** 64n, at: "a" } });
    expect(toResourceError(big)).toMatchObject({
      kind: "too-large",
      message: "it is large",
      details: { bytes: 10, rows: "18446744073709551616", at: "a" },
    });
    const circle: Record<string, unknown> = {};
    circle["circle"] = circle;
    for (const details of [circle, { toJSON: fail }, { at: { toJSON: fail } }, { toJSON: () => "text" }])
      expect(toResourceError(branded({ kind: "invalid", message: "m", details }))).toMatchObject({
        kind: "invalid",
        message: "m",
        details: undefined,
      });
    const own = new ResourceError("invalid", "m", { details: { at: "a" } });
    expect(toResourceError(own)).toBe(own);
  });

  it.each([
    ["has no members", branded({})],
    ["has an unknown kind", branded({ kind: "nope", message: "m" })],
    [
      "has a kind that fails",
      branded({
        get kind() {
          return fail();
        },
      }),
    ],
    ["has a message that fails", branded({ kind: "invalid", message: { toString: fail } })],
    ["is a proxy that fails", new Proxy({}, { has: fail, getPrototypeOf: fail })],
    ["is an error whose name fails", Object.defineProperty(new Error("m"), "name", { get: fail })],
  ])("that %s is unexpected", (_what, thrown) => {
    expect(toResourceError(thrown)).toMatchObject({
      kind: "unexpected",
      message: expect.stringMatching(/^internal error/),
    });
  });

  it("of another program without a message has one", () => {
    expect(toResourceError(branded({ kind: "invalid", message: 7 })).message).toBe("7");
  });
});

/** An object that claims to be an error of another copy. */
function branded(members: object): object {
  return Object.defineProperty(members, Symbol.for("pressmark.ResourceError"), { value: true });
}

function fail(): never {
  throw new Error("this member fails");
}
