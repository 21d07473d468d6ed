/** The oracle of the fault matrix can fail. */
import { expect, it } from "vitest";
import { createModel, type Model } from "./model.ts";

function quiet(): Model {
  const model = createModel();
  for (const name of ["a", "b"]) model.begin(name, `text of ${name}`)();
  model.settle(
    new Map([
      ["a", "text of a"],
      ["b", "text of b"],
    ]),
  );
  return model;
}

it("an answer that claims to be whole may not lack what was there all the time, nor invent anything", () => {
  const model = quiet();
  expect(() => model.checkClaim([], model.certain())).toThrow("it lacks [a, b]");
  expect(() => model.checkClaim(["a", "b", "c"], model.certain())).toThrow("invents [c]");
  expect(() => model.checkClaim(["a", "b"], model.certain())).not.toThrow();
  // Written a moment ago: an answer may not know it yet.
  model.begin("a", "new");
  expect(() => model.checkClaim(["b"], model.certain())).not.toThrow();
});

it("an acknowledged text must be there, and a refused one may be", () => {
  const model = quiet();
  model.begin("a", "acknowledged")();
  model.begin("b", "refused");
  expect(model.differences(["b"])).toEqual(["a is missing"]);
  expect(model.differences(["a", "b", "c"])).toEqual(["c is there"]);
  expect(model.wrongTexts(new Map([["a", "text of a"]]))).toHaveLength(1);
  for (const text of ["text of b", "refused"]) expect(model.wrongTexts(new Map([["b", text]]))).toEqual([]);
  expect(model.wrongTexts(new Map([["b", "something else"]]))).toHaveLength(1);
});

it("what was removed must be gone, and what may be lost need not be there", () => {
  const model = quiet();
  model.begin("a", undefined)();
  expect(model.differences(["a", "b"])).toEqual(["a is there"]);
  model.mayBeLost();
  expect(model.differences([])).toEqual([]);
  model.begin("b", "after the loss")();
  expect(model.differences([])).toEqual(["b is missing"]);
});
