/** A server with all fixtures of the conformance suite, in every server scenario that the suite has. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../src/client/index.ts";
import { type Findings, runServerScenarios, serverScenarios } from "./conformance-suite.ts";
import { type Fixture, startFixture } from "./fixture.ts";

const noLog = "the log is for the person who runs the server, not for its clients";
const noTasks = "the server does not declare the tasks extension: every call ends with its request";

/** What a server of resources leaves out, and why. */
const leftOut: Readonly<Record<string, string>> = {
  "logging-set-level": noLog,
  "tools-call-with-logging": noLog,
  "server-sse-polling":
    "the server does not end the stream of a call before its response; the specification only permits it",
  "tasks-lifecycle": noTasks,
  "tasks-capability-negotiation": noTasks,
  "tasks-wire-fields": noTasks,
  "tasks-request-state-removal": noTasks,
  "tasks-mrtr-input": noTasks,
  "tasks-request-headers": noTasks,
  "tasks-dispatch-and-envelope": noTasks,
  "tasks-status-notifications": noTasks,
  "tasks-required-task-error": noTasks,
  "tasks-mrtr-composition": noTasks,
};

/** Each with the option that makes the suite run its scenarios. */
const revisions: Readonly<Record<string, string | undefined>> = {
  // Without a revision the suite runs everything, what is older than 2026-07-28 at 2025-11-25.
  "2025-11-25": undefined,
  extension: undefined,
  "2026-07-28": "2026-07-28",
};

const suiteMs = 120_000;
const scenarios = serverScenarios();
const findings = new Map<string | undefined, ReadonlyMap<string, Findings>>();
let fixture: Fixture;

beforeAll(async () => {
  fixture = await startFixture();
  for (const revision of new Set(Object.values(revisions)))
    findings.set(revision, await runServerScenarios(fixture.url, revision));
}, suiteMs);
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

it("finds the suite's scenarios, and every one that is left out", () => {
  expect(scenarios.length).toBeGreaterThanOrEqual(65);
  expect(scenarios.map(({ scenario }) => scenario)).toEqual(expect.arrayContaining(Object.keys(leftOut)));
  const isRun = ({ revisions: of }: (typeof scenarios)[number]) => of.some((revision) => revision in revisions);
  expect(scenarios.filter((scenario) => !isRun(scenario))).toEqual([]);
});

describe.each(Object.entries(revisions))("the server at %s", (revision, run) => {
  const applicable = scenarios.filter(({ revisions: of }) => of.includes(revision)).map(({ scenario }) => scenario);

  it.each(applicable.filter((scenario) => !(scenario in leftOut)))("passes %s", (scenario) => {
    const found = findings.get(run)?.get(scenario);
    expect(found).toMatchObject({ failures: [], warnings: [] });
    expect(found?.held).toBeGreaterThan(0);
    if (revision === "extension") expect(found?.skipped).toEqual([]);
  });

  it.each(applicable.filter((scenario) => scenario in leftOut))("leaves out %s, as known", (scenario) => {
    const { held, failures, warnings } = findings.get(run)?.get(scenario) ?? { held: 0, failures: [], warnings: [] };
    expect(held === 0 || failures.length + warnings.length > 0, leftOut[scenario]).toBe(true);
  });
});

it("accepts the headers that our own client sends", async () => {
  const client = await connect(fixture.url, { era: "modern" });
  const call = { caller: { id: "test" }, signal: new AbortController().signal };
  const result = await client.callTool("test_custom_header", { region: " 日本 " }, call);
  expect(result).toMatchObject({ content: [{ text: "Understood." }] });
  await client.close();
});

it("leaves nothing in the server's log but the host that it refused", () => {
  expect(fixture.log.filter((line) => !/refused a request for the host "evil\.example\.com"/.test(line))).toEqual([]);
});
