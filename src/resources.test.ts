import { describe, expect, it } from "vitest";
import { type Caller, callerKey } from "./resources.ts";

const key = (caller: Partial<Caller>): string => callerKey({ id: "ann", ...caller });

describe("the key of a caller", () => {
  it("does not depend on the order of groups, scopes and claims", () => {
    expect(key({ groups: ["a", "b"] })).toBe(key({ groups: ["b", "a", "b"] }));
    expect(key({ scopes: ["a", "b"] })).toBe(key({ scopes: ["b", "a"] }));
    expect(key({ claims: { x: "1", y: ["2", "3"] } })).toBe(key({ claims: { y: ["3", "2"], x: "1" } }));
  });

  it("is the id if nothing else is known", () => {
    const callers: Partial<Caller>[] = [{}, { groups: [] }, { claims: {} }, { claims: { x: [] } }, { owner: false }];
    for (const caller of callers) expect(key(caller)).toBe("ann");
  });

  it("differs by everything that decides what a caller sees", () => {
    const callers: Partial<Caller>[] = [
      {},
      { id: '["ann",null,null,null,true]' },
      { owner: true },
      { groups: ["a"] },
      { groups: ["a", "b"] },
      { groups: ["a,b"] },
      // Without scopes nothing is restricted to scopes; none of them grants nothing.
      { scopes: [] },
      { scopes: ["a"] },
      { claims: { a: "b" } },
      { claims: { a: ["b"] } },
      { claims: { a: "" } },
    ];
    expect(new Set(callers.map(key)).size).toBe(callers.length);
  });
});
