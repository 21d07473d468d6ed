/** A mount of another MCP server in the conformance suite's scenarios about authorization. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { authorizationScenarios, runClientScenario } from "./conformance-suite.ts";

const scenarioMs = 100_000;
const command = `${process.execPath} ${join(import.meta.dirname, "conformance-gateway.ts")}`;

/** What a mount does not do, and why. */
const leftOut: Readonly<Record<string, string>> = {
  "auth/dpop": "a mount has no option for DPoP",
  "auth/dpop-nonce": "a mount has no option for DPoP",
  "auth/wif-jwt-bearer": "a mount has no option for a workload identity",
  "auth/enterprise-managed-authorization": "a mount has no option for an identity provider's grants",
};

/** Each at the latest revision that it applies to. */
const scenarios = [...new Map(authorizationScenarios().map((each) => [each.scenario, each])).values()];

describe.concurrent("a mount", { timeout: scenarioMs }, () => {
  it.each(scenarios.filter(({ scenario }) => !(scenario in leftOut)))("passes $scenario", async (each) => {
    const found = await runClientScenario(command, each.scenario, each.revision);
    expect(found).toMatchObject({ failures: [], warnings: [] });
    expect(found.held).toBeGreaterThan(0);
  });

  it.each(scenarios.filter(({ scenario }) => scenario in leftOut))("leaves out $scenario, as known", async (each) => {
    const { failures } = await runClientScenario(command, each.scenario, each.revision);
    expect(failures, leftOut[each.scenario]).not.toEqual([]);
  });
});
