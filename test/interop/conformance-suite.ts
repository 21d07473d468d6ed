/** The official conformance suite as a program of its own, and what it found. */
import { execFile, execFileSync } from "node:child_process";
import { glob, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";

const modules = join(import.meta.dirname, "../../node_modules");
const program = join(modules, ".bin/conformance");

/** For a client under test; the suite's own limit is too short for a busy machine. */
const clientMs = 80_000;

const checks = z.array(
  z.object({
    id: z.string(),
    status: z.enum(["SUCCESS", "FAILURE", "WARNING", "SKIPPED", "INFO"]),
    errorMessage: z.string().optional(),
  }),
);

export interface Findings {
  /** How many checks were made and held, besides that of the messages' schemas. */
  readonly held: number;
  /** What a MUST and a SHOULD miss, each with the id of its check. */
  readonly failures: readonly string[];
  readonly warnings: readonly string[];
  /** What did not apply to this server, or could not be looked at. */
  readonly skipped: readonly string[];
}

export async function runScenario(url: string, scenario: string): Promise<Findings> {
  return only(scenario, await run(["server", "--url", url, "--scenario", scenario]));
}

interface ScenarioInfo {
  readonly scenario: string;
  /** That it applies to, oldest first; or "extension". */
  readonly revisions: readonly string[];
}

export const clientScenarios = () => scenariosFor("--client");
export const serverScenarios = () => scenariosFor("--server");

function scenariosFor(side: "--client" | "--server"): readonly ScenarioInfo[] {
  const listed = execFileSync(process.execPath, [program, "list", side], { encoding: "utf8" });
  return [...listed.matchAll(/- (\S+) \[(.*)\]/g)].map(([, scenario = "", revisions = ""]) => ({
    scenario,
    revisions: revisions.split(","),
  }));
}

/** Scenarios about authorization of clients, each with the latest two revisions that it applies to. */
export function authorizationScenarios(): readonly { readonly scenario: string; readonly revision?: string }[] {
  return clientScenarios()
    .filter(({ scenario }) => scenario.startsWith("auth/"))
    .flatMap(({ scenario, revisions }) =>
      revisions.includes("extension")
        ? [{ scenario }]
        : revisions.slice(-2).map((revision) => ({ scenario, revision })),
    );
}

/** All scenarios that apply to a revision, at the same time; without one all there are, extensions included, each at its own. */
export function runClientScenarios(command: string, revision?: string): Promise<ReadonlyMap<string, Findings>> {
  return run(["client", "--command", command, "--timeout", String(clientMs), ...allAt(revision)]);
}

/** The same for a server, one after another. */
export function runServerScenarios(url: string, revision?: string): Promise<ReadonlyMap<string, Findings>> {
  return run(["server", "--url", url, ...allAt(revision)]);
}

function allAt(revision: string | undefined): readonly string[] {
  return ["--suite", "all", ...(revision === undefined ? [] : ["--spec-version", revision])];
}

/** Runs a program as the client; the suite appends the URL of its server. */
export async function runClientScenario(command: string, scenario: string, revision?: string): Promise<Findings> {
  const version = revision === undefined ? [] : ["--spec-version", revision];
  const options = ["--scenario", scenario, ...version, "--timeout", String(clientMs)];
  return only(scenario, await run(["client", "--command", command, ...options]));
}

function only(scenario: string, findings: ReadonlyMap<string, Findings>): Findings {
  const found = findings.get(scenario);
  if (!found) throw new Error(`the suite did not run ${scenario}`);
  return found;
}

async function run(options: readonly string[]): Promise<ReadonlyMap<string, Findings>> {
  const folder = await mkdtemp(join(tmpdir(), "pressmark-conformance-"));
  try {
    await ended([program, ...options, "--output-dir", folder]);
    const findings = new Map<string, Findings>();
    for await (const file of glob("**/checks.json", { cwd: folder })) {
      const made = checks.parse(JSON.parse(await readFile(join(folder, file), "utf8")));
      findings.set(scenarioOf(dirname(file)), toFindings(made));
    }
    return findings;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The program's own verdict is its exit code; here the checks are judged one by one. */
function ended(args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { maxBuffer: 64 * 1024 * 1024, timeout: 90_000 }, (error, stdout, stderr) => {
      if (error && typeof error.code !== "number") reject(new Error(`${error.message}\n${stderr}`));
      else if (!`${stdout}${stderr}`.includes("Results saved to"))
        reject(new Error(`the suite did not run: ${stderr || stdout}`));
      else resolve();
    });
  });
}

/** `server-caching-2026-11-15T05-14-46-729Z` → `caching` */
function scenarioOf(folder: string): string {
  return folder.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "");
}

function toFindings(made: z.infer<typeof checks>): Findings {
  const told = (wanted: string) =>
    made.filter(({ status }) => status === wanted).map(({ id, errorMessage = "" }) => `${id}: ${errorMessage}`);
  return {
    held: made.filter(({ id, status }) => status === "SUCCESS" && id !== "wire-schema-valid").length,
    failures: told("FAILURE"),
    warnings: told("WARNING"),
    skipped: told("SKIPPED"),
  };
}
