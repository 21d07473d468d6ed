/** Mutants of the memory source, of a store of keys, and some of a remote source: the contract finds each of them. */
import { describe, it } from "vitest";
import { mutantsOf } from "./catalogue.ts";
import { expectCaught, expectPassed } from "./expect-caught.ts";
import { keysMutants } from "./keys-mutants.ts";
import { watchMutants } from "./watch-mutants.ts";
import { keysSubject, memorySubject, remoteSubject } from "./subjects.ts";

describe.each([
  ["memory", memorySubject, mutantsOf(memorySubject)],
  ["a store of keys", keysSubject, keysMutants],
  // The others take longer: `npm run test:long` runs them.
  ["a remote store", remoteSubject, mutantsOf(remoteSubject).filter((_, index) => index % 12 === 0)],
] as const)("%s", (_name, subject, mutants) => {
  it("passes the contract unchanged", () => expectPassed(subject));

  it.each(mutants)("that $name is found by the contract", (mutant) => expectCaught(subject, mutant));
});

it("a source that reports every change as lost passes if its setup says so", async () => {
  const { open } = memorySubject;
  const lost = watchMutants.find(({ name }) => name === "reports every change as lost")!;
  await expectPassed({
    ...memorySubject,
    reportedAsLost: ["changed", "appeared", "gone"],
    async open(content) {
      const source = await open(content);
      return { ...source, ...lost.wrap(source) };
    },
  });
});
