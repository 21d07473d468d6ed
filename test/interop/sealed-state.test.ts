import { describe, expect, it } from "vitest";
import { createSealedState } from "./sealed-state.ts";

describe("a sealed state", () => {
  const sealed = createSealedState();

  it("comes back as it was", () => {
    expect(sealed.open("step", sealed.seal("step", { name: "Ada" }))).toEqual({ name: "Ada" });
  });

  it("is refused when anything about it was changed", () => {
    const good = sealed.seal("step", { name: "Ada" });
    const other = Buffer.from(JSON.stringify({ name: "Eve" })).toString("base64url");
    const forged = [`${good}-TAMPERED`, good.slice(0, -1), `${other}${good.slice(good.indexOf("."))}`, "", ".", "a.b"];
    for (const state of forged) expect(() => sealed.open("step", state), state).toThrow("was not made here");
  });

  it("is refused for another purpose, and by another server", () => {
    const good = sealed.seal("step", 1);
    expect(() => sealed.open("other", good)).toThrow("was not made here");
    expect(() => createSealedState().open("step", good)).toThrow("was not made here");
  });
});
