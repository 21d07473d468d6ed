/** The contracts run the same tests under vitest and under node:test. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "pressmark-test-contract-"));
afterAll(() => rmSync(folder, { recursive: true }));
const tests = "test/contract/memory-contracts.ts";

/** The output of a program that starts outside vitest and outside node:test. */
async function run(...args: readonly string[]): Promise<string> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:VITEST|NODE_TEST|TEST$)/.test(name)),
  );
  const options = { cwd: root, env, timeout: 50_000, maxBuffer: 2 ** 24 };
  return (await promisify(execFile)(process.execPath, args, options)).stdout;
}

/** The names of skipped tests with their reasons, and the number of the others. */
interface Outcome {
  readonly passed: number;
  readonly skipped: readonly string[];
}

async function underNode(): Promise<Outcome> {
  const lines = (await run("--test", "--test-reporter=tap", tests)).split("\n");
  expect(lines).toContain("# fail 0");
  return {
    passed: Number(lines.find((line) => line.startsWith("# pass "))?.slice("# pass ".length)),
    skipped: lines.flatMap((line) => /ok \d+ - (.*) # SKIP (.*)/.exec(line)?.slice(1).join(": ") ?? []),
  };
}

async function underVitest(): Promise<Outcome> {
  const file = join(folder, "report.json");
  const options = ["--config", "test/contract/vitest.config.ts", "--reporter=json", `--outputFile=${file}`];
  await run(join(root, "node_modules/vitest/vitest.mjs"), "run", ...options);
  const report = JSON.parse(readFileSync(file, "utf8")) as {
    readonly numPassedTests: number;
    readonly numFailedTests: number;
    readonly testResults: readonly { readonly assertionResults: readonly { title: string; status: string }[] }[];
  };
  expect(report.numFailedTests).toBe(0);
  const results = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const skipped = results.filter(({ status }) => status !== "passed").map(({ title }) => title);
  const reasons = skipped.map((title) => title.replace(/ \(skipped: (.*)\)$/, ": $1"));
  return { passed: report.numPassedTests, skipped: reasons };
}

it("run and skip the same tests under vitest and node:test, and give a reason for each skip", async () => {
  const [node, vitest] = [await underNode(), await underVitest()];
  expect(node).toEqual(vitest);
  expect(node.passed).toBeGreaterThan(50);
  expect(node.skipped).toContain("reports a rename as one path gone and another appeared: the setup has no `rename`");
});

it("needs no vitest to be loaded", async () => {
  const hooks = `import { registerHooks } from "node:module";
    registerHooks({ resolve(name, context, next) {
      if (/^(?:@vitest\\/|vitest)/.test(name)) throw new Error(name + " is not installed");
      return next(name, context);
    } });`;
  const load = (name: string) =>
    run(
      "--import",
      `data:text/javascript,${encodeURIComponent(hooks)}`,
      "--input-type=module",
      "--eval",
      `console.log(Object.keys(await import(${JSON.stringify(name)})).length > 5)`,
    );
  expect(await load(pathToFileURL(join(root, "src/testing/index.ts")).href)).toBe("true\n");
  await expect(load("vitest")).rejects.toThrow("vitest is not installed");
});
