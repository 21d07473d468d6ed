/** Every promise of the Source interface as a test, selected by the abilities that a source claims. */
import { defaultRunner } from "./contract-runner.ts";
import type { ContractRunner } from "./contract-runner.ts";
import { expectTrue } from "./expectations.ts";
import { testChildren } from "./source-contract/children.ts";
import { testComplete, testTemplates } from "./source-contract/templates.ts";
import { createContractContext } from "./source-contract/contract-context.ts";
import { testList } from "./source-contract/list.ts";
import { testRead } from "./source-contract/read.ts";
import { testSearch } from "./source-contract/search.ts";
import { testSkills } from "./source-contract/skills.ts";
import { testStat } from "./source-contract/stat.ts";
import { testWatch } from "./source-contract/watch.ts";
import { testWatchLifetime } from "./source-contract/watch-lifetime.ts";
import { testWrites } from "./source-contract/writes.ts";
import type { Ability, SourceSetup } from "./source-setup.ts";

const abilities: readonly Ability[] = [
  "stat",
  "children",
  "templates",
  "complete",
  "search",
  "listIndexed",
  "skills",
  "watch",
];

/** Defines the tests of a source. They run under vitest, else under node:test, unless another runner is given. */
export function sourceContract(name: string, setup: SourceSetup, runner: ContractRunner = defaultRunner): void {
  const context = createContractContext(setup, runner);
  const { can, test } = context;
  const group = (title: string, define: (given: typeof context) => void) =>
    runner.describe(title, () => define(context));

  runner.describe(`${name} keeps the promises of a source`, () => {
    runner.afterAll(context.end);

    test("has the abilities that it claims, and claims those that it has", async () => {
      const source = context.source();
      const absent = setup.abilities.filter((ability) => source[ability] === undefined);
      expectTrue(absent.length === 0, `the setup claims abilities that the source lacks: ${quoted(absent)}`);
      const unclaimed = abilities.filter((ability) => source[ability] !== undefined && !can(ability));
      expectTrue(
        unclaimed.length === 0,
        `the source has abilities that the setup does not claim: ${quoted(unclaimed)}`,
      );
    });

    group("list", testList);
    group("read", testRead);
    group("writes", testWrites);
    if (can("stat")) group("stat", testStat);
    if (can("children")) group("children", testChildren);
    if (can("templates")) group("templates", testTemplates);
    if (can("complete")) group("complete", testComplete);
    if (can("search")) group("search", testSearch);
    if (can("skills")) group("skills", testSkills);
    if (can("watch")) {
      group("watch", testWatch);
      group("watches side by side", testWatchLifetime);
    }
    runner.describe("close", () => {
      test("may be called twice", async () => {
        await context.close();
        await context.close();
      });
    });
  });
}

function quoted(names: readonly Ability[]): string {
  return names.map((ability) => `\`${ability}\``).join(", ");
}
