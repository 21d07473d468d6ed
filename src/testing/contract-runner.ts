/** The test runner of the contracts: vitest inside vitest, else node:test. Nothing here needs vitest to be installed. */

export interface TestOptions {
  /** Limit for the whole test, including opening and closing. */
  readonly timeoutMs: number;
  /** Why the test cannot run; undefined if it can. */
  readonly skip?: string | undefined;
}

/** Runs the tests of a contract. Pass one to a contract to use another runner than the default. */
export interface ContractRunner {
  describe(name: string, define: () => void): void;
  it(name: string, options: TestOptions, body: () => Promise<void>): void;
  afterAll(body: () => Promise<void>): void;
}

async function vitestRunner(): Promise<ContractRunner> {
  const { afterAll, describe, it } = await import("vitest");
  return {
    describe,
    it(name, { timeoutMs, skip }, body) {
      if (skip === undefined) it(name, { timeout: timeoutMs }, body);
      // A skipped test of vitest has no place for a reason but its name.
      else it.skip(`${name} (skipped: ${skip})`, body);
    },
    afterAll: (body) => afterAll(body),
  };
}

async function nodeRunner(): Promise<ContractRunner> {
  const { after, describe, it } = await import("node:test");
  return {
    describe: (name, define) => void describe(name, define),
    it: (name, { timeoutMs, skip }, body) => void it(name, { timeout: timeoutMs, ...(skip && { skip }) }, body),
    afterAll: (body) => after(body),
  };
}

/** Chosen when the module is loaded: tests must be defined synchronously. A child process of vitest is not inside vitest. */
export const defaultRunner: ContractRunner = await ("__vitest_worker__" in globalThis ? vitestRunner() : nodeRunner());
