/** Runs a contract by itself and returns the results, for tests of the contracts. */
import { within } from "./within.ts";
import type { TestOptions, ContractRunner } from "./contract-runner.ts";

export interface TestResult {
  /** The names of the groups and of the test, joined by " > ". */
  readonly name: string;
  readonly outcome: "passed" | "failed" | "skipped";
  readonly error?: unknown;
}

export interface RecordOptions {
  /** Ends after the first failure that fits. */
  readonly until?: (error: unknown) => boolean;
  /** Chooses tests by their names. */
  readonly only?: (name: string) => boolean;
}

/** Runs the tests that `define` defines, one after the other. */
export async function recordTests(
  define: (runner: ContractRunner) => void,
  { until = () => false, only = () => true }: RecordOptions = {},
): Promise<TestResult[]> {
  const groups: string[] = [];
  const tests: { readonly name: string; readonly options: TestOptions; readonly body: () => Promise<void> }[] = [];
  const endings: (() => Promise<void>)[] = [];
  define({
    describe(name, inner) {
      groups.push(name);
      inner();
      groups.pop();
    },
    it: (name, options, body) => void tests.push({ name: [...groups, name].join(" > "), options, body }),
    afterAll: (body) => void endings.push(body),
  });
  const results: TestResult[] = [];
  for (const { name, options, body } of tests.filter((test) => only(test.name))) {
    if (options.skip !== undefined) {
      results.push({ name, outcome: "skipped" });
      continue;
    }
    try {
      await within(options.timeoutMs, body(), "the end of the test");
      results.push({ name, outcome: "passed" });
    } catch (error) {
      results.push({ name, outcome: "failed", error });
      if (until(error)) break;
    }
  }
  for (const end of endings) await end();
  return results;
}
