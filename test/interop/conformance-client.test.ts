/** `pressmark/client` in every client scenario of the conformance suite. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, setDefaultAutoSelectFamilyAttemptTimeout } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type ClientScenario, runAsHost } from "./conformance-client.ts";
import { clientScenarios, type Findings, runClientScenarios } from "./conformance-suite.ts";

const suiteMs = 240_000;

/** What the client does not do, and why. */
const leftOut: Readonly<Record<string, string>> = {
  "elicitation-sep1034-client-defaults": "the client declares no elicitation: a program that uses it cannot be asked",
  "sep-2322-client-request-state": "the client declares no elicitation, so it does not answer requests for input",
};

/** Each with the option that makes the suite run its scenarios. Those of the revisions between the first two are the same. */
const revisions: Readonly<Record<string, string | undefined>> = {
  "2025-03-26": "2025-03-26",
  // Without a revision the suite runs everything, what is older than 2026-07-28 at 2025-11-25.
  "2025-11-25": undefined,
  extension: undefined,
  "2026-07-28": "2026-07-28",
};
const scenarios = clientScenarios();

let clients: Server;
const findings = new Map<string | undefined, ReadonlyMap<string, Findings>>();

beforeAll(async () => {
  // Node gives up an address of localhost after 250 ms, in which a busy process may not even look at the connection.
  setDefaultAutoSelectFamilyAttemptTimeout(30_000);
  // The official client warns of the tools that it leaves out.
  vi.spyOn(console, "warn").mockReturnValue();
  // The suite starts all scenarios at once, and some measure time: they take turns.
  let turn = Promise.resolve();
  clients = createServer(async (request, response) => {
    const scenario = (await json(request)) as ClientScenario;
    turn = turn
      .then(() => runAsHost(scenario))
      .then(
        () => void response.end(),
        (cause: unknown) => void response.writeHead(500).end(String(cause)),
      );
  }).listen(0, "127.0.0.1");
  await once(clients, "listening");
  const { port } = clients.address() as AddressInfo;
  const command = `${process.execPath} ${join(import.meta.dirname, "conformance-forward.mjs")} ${port}`;
  for (const revision of new Set(Object.values(revisions)))
    findings.set(revision, await runClientScenarios(command, revision));
}, suiteMs);
afterAll(() => {
  vi.restoreAllMocks();
  clients.close();
});

it("finds the suite's scenarios, and every one that is left out", () => {
  expect(scenarios.length).toBeGreaterThanOrEqual(46);
  expect(scenarios.map(({ scenario }) => scenario)).toEqual(expect.arrayContaining(Object.keys(leftOut)));
  const isRun = ({ revisions: of }: (typeof scenarios)[number]) => of.some((revision) => revision in revisions);
  expect(scenarios.filter((scenario) => !isRun(scenario))).toEqual([]);
});

describe.each(Object.entries(revisions))("the client at %s", (revision, run) => {
  const applicable = scenarios.filter(({ revisions: of }) => of.includes(revision)).map(({ scenario }) => scenario);

  it.each(applicable.filter((scenario) => !(scenario in leftOut)))("passes %s", (scenario) => {
    const found = findings.get(run)?.get(scenario);
    expect(found).toMatchObject({ failures: [], warnings: [] });
    expect(found?.held).toBeGreaterThan(0);
  });

  it.each(applicable.filter((scenario) => scenario in leftOut))("leaves out %s, as known", (scenario) => {
    expect(findings.get(run)?.get(scenario)?.failures, leftOut[scenario]).not.toEqual([]);
  });
});
