/** Every mutant of a remote source: the contract finds it. */
import { describe, it } from "vitest";
import { mutantsOf } from "../mutants/catalogue.ts";
import { expectCaught, expectPassed } from "../mutants/expect-caught.ts";
import { remoteSubject } from "../mutants/subjects.ts";

describe("a remote store", () => {
  it("passes the contract unchanged", () => expectPassed(remoteSubject));

  it.each(mutantsOf(remoteSubject))("that $name is found by the contract", (mutant) =>
    expectCaught(remoteSubject, mutant),
  );
});
