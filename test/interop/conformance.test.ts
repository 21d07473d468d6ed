import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Findings, requiredScenarios, runRequirements, runScenario } from "./conformance-suite.ts";
import { type Fixture, startFixture } from "./fixture.ts";

/** What a server of resources leaves out in the older revisions, and why. */
const leftOut: Readonly<Record<string, string>> = {
  "logging-set-level": "the log is for the person who runs the server, not for its clients",
  "tools-call-with-logging": "the log is for the person who runs the server, not for its clients",
};

/** Run beside those that count, and met all the same. */
const beside: Readonly<Record<string, readonly string[]>> = {
  "2025-11-25": ["server-session-lifecycle", "json-schema-2020-12"],
  "2026-07-28": ["http-header-validation", "json-schema-2020-12"],
};

const suiteMs = 60_000;
let fixture: Fixture;

beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

describe.each(["2025-11-25", "2026-07-28"])("the conformance suite at %s", (revision) => {
  let findings: ReadonlyMap<string, Findings>;
  const scenarios = requiredScenarios(revision);

  beforeAll(async () => {
    findings = await runRequirements(fixture.url, revision);
  }, suiteMs);

  it("has scenarios", () => {
    expect(scenarios.length).toBeGreaterThanOrEqual(30);
  });

  it.each(scenarios.filter((scenario) => !(scenario in leftOut)))("%s holds", (scenario) => {
    expectHolds(findings.get(scenario));
  });

  it.each(scenarios.filter((scenario) => scenario in leftOut))("%s is left out, and known to be", (scenario) => {
    expect(findings.get(scenario)?.failures, leftOut[scenario]).not.toEqual([]);
  });

  it.each(beside[revision] ?? [])("%s, which does not count, holds too", (scenario) => {
    expectHolds(findings.get(scenario));
  });

  it("leaves nothing in the server's log", () => {
    expect(fixture.log).toEqual([]);
  });
});

describe("the conformance suite's scenarios of extensions, with real skills", () => {
  it.each(["sep-2640-skills-directory", "sep-2640-skills-enumeration", "sep-2640-skills-manifest"])(
    "%s holds, and nothing of it is passed over",
    async (scenario) => {
      const found = await runScenario(fixture.url, scenario);
      expectHolds(found);
      expect(found.skipped).toEqual([]);
    },
    suiteMs,
  );
});

function expectHolds(found: Findings | undefined): void {
  expect(found).toMatchObject({ failures: [], warnings: [] });
  expect(found?.held).toBeGreaterThan(0);
}
