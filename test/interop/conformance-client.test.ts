/** `pressmark/client` in the conformance suite's scenarios about authorization. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { authorizationScenarios, runClientScenario } from "./conformance-suite.ts";

const scenarioMs = 100_000;
const command = `${process.execPath} ${join(import.meta.dirname, "conformance-client.ts")}`;
const scenarios = authorizationScenarios();

it("finds the suite's scenarios", () => {
  expect(new Set(scenarios.map(({ scenario }) => scenario)).size).toBeGreaterThanOrEqual(33);
});

describe.concurrent("the client", () => {
  it.each(scenarios)("passes $scenario $revision", { timeout: scenarioMs }, async ({ scenario, revision }) => {
    const found = await runClientScenario(command, scenario, revision);
    expect(found).toMatchObject({ failures: [], warnings: [] });
    expect(found.held).toBeGreaterThan(0);
  });
});
