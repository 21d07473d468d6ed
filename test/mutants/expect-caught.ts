/** Runs the contract for a faulty source. */
import { inspect } from "node:util";
import { recordTests } from "../../src/testing/recording-runner.ts";
import { sourceContract } from "../../src/testing/index.ts";
import type { ContractRunner, SourceSetup } from "../../src/testing/index.ts";
import type { Mutant } from "./mutant.ts";

export async function expectPassed(subject: SourceSetup): Promise<void> {
  const results = await recordTests((runner) => sourceContract("the source", subject, runner));
  const failures = results.filter(({ outcome }) => outcome === "failed");
  if (failures.length > 0) throw new Error(`the contract fails without a fault: ${inspect(failures)}`);
}

/**
 * Throws if the mutant survives. Runs only the group of the contract that must find the fault: a failure elsewhere, for example because the
 * machine is busy, does not count.
 */
export async function expectCaught(subject: SourceSetup, { group, name, says, wrap }: Mutant): Promise<void> {
  const setup: SourceSetup = {
    ...subject,
    async open(content) {
      const source = await subject.open(content);
      return { ...source, ...wrap(source) };
    },
  };
  const only = (test: string) => test.split(" > ")[1]?.startsWith(group) ?? false;
  const isExpected = (error: unknown) => says?.test(messageOf(error)) ?? true;
  const define = (runner: ContractRunner) => sourceContract("the mutant", setup, runner);
  const results = await recordTests(define, { only, until: isExpected });
  if (results.length === 0) throw new Error(`the contract has no group "${group}"`);
  const errors = results.flatMap(({ outcome, error }) => (outcome === "failed" ? [error] : []));
  if (errors.length === 0) throw new Error(`the mutant that ${name} survives the group "${group}" of the contract`);
  if (!errors.some(isExpected))
    throw new Error(`no failure for the mutant that ${name} says ${says}:\n${errors.map(messageOf).join("\n")}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : inspect(error);
}
