/** A watch that three processes share: the leader is killed, and paused. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { SourceChange } from "../../src/source.ts";
import { natsMissing } from "../live/nats.ts";
import { missingFor } from "../live/postgres.ts";
import { type Engines, startEngines } from "./instances.ts";

interface InstanceProcess {
  readonly child: ChildProcess;
  readonly instance: string;
  readonly seen: SourceChange[];
}

const kinds = [
  { name: "PostgreSQL", missing: missingFor("npm"), withNats: false },
  { name: "NATS", missing: missingFor("npm") ?? natsMissing(), withNats: true },
];
const slow = { timeout: 50_000, interval: 20 };

describe.each(kinds)("a watch that processes share through $name", ({ missing, withNats }) => {
  if (missing !== undefined) return it.skip(`is not tested: ${missing}`, () => undefined);
  let engines: Engines;
  let folder: string;
  let made = 0;
  let written = 0;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    engines = await startEngines(withNats);
  });
  afterAll(() => engines.close());
  beforeEach(() => {
    made += 1;
    folder = mkdtempSync(join(tmpdir(), "pressmark-shared-"));
    writeFileSync(join(folder, "a.txt"), "first");
  });
  afterEach(async () => {
    await Promise.all(children.splice(0).map(end));
    rmSync(folder, { recursive: true });
  });

  async function start(): Promise<InstanceProcess> {
    const bus = engines.busUrl();
    const script = join(import.meta.dirname, "shared-watch-process.ts");
    const args = [script, folder, engines.databaseUrl(`processes_${made}`), ...(bus === undefined ? [] : [bus])];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    children.push(child);
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
    const seen: SourceChange[] = [];
    const instance = await new Promise<string>((resolve, reject) => {
      child.once("exit", () => reject(new Error(`the instance ended: ${log}`)));
      createInterface({ input: child.stdout }).on("line", (line) => {
        const parsed = JSON.parse(line) as { readonly instance: string } | SourceChange;
        if ("instance" in parsed) resolve(parsed.instance);
        else seen.push(parsed);
      });
    });
    return { child, instance, seen };
  }

  async function leaderOf(processes: readonly InstanceProcess[]): Promise<InstanceProcess> {
    const client = await engines.postgres.connect("postgres");
    try {
      const { rows } = await client.query<{ holder: string }>(
        `select holder from processes_${made}.leases where name = 'watch:notes'`,
      );
      const leader = processes.find(({ instance }) => instance === rows[0]?.holder);
      if (!leader) throw new Error(`no instance leads: ${JSON.stringify(rows)}`);
      return leader;
    } finally {
      await client.end();
    }
  }

  /** Writes new files until all have seen one. */
  async function untilAllSee(processes: readonly InstanceProcess[]): Promise<void> {
    const own = `round-${(written += 1)}`;
    let count = 0;
    await vi.waitFor(() => {
      writeFileSync(join(folder, `${own}-${(count += 1)}.txt`), "x");
      for (const each of processes) expect(pathsSeen(each).join()).toContain(own);
    }, slow);
  }

  it("announces on all, also after the leader was killed", async () => {
    const processes = [await start(), await start(), await start()];
    writeFileSync(join(folder, "b.txt"), "x");
    for (const each of processes) await vi.waitFor(() => expect(pathsSeen(each)).toContain("b.txt"), slow);
    expect(processes.map(hasLost)).toEqual([false, false, false]);
    for (const { seen } of processes)
      expect(seen.filter((change) => change.kind === "appeared")).toEqual([{ kind: "appeared", path: "b.txt" }]);
    const leader = await leaderOf(processes);
    const others = processes.filter((each) => each !== leader);
    await end(leader.child);
    writeFileSync(join(folder, "between.txt"), "x");
    for (const each of others) await vi.waitFor(() => expect(hasLost(each)).toBe(true), slow);
    await untilAllSee(others);
  });

  it("replaces a leader that is paused, and refuses what it publishes late", async () => {
    const processes = [await start(), await start(), await start()];
    const leader = await leaderOf(processes);
    const others = processes.filter((each) => each !== leader);
    leader.child.kill("SIGSTOP");
    // The paused process finds these changes when it continues.
    writeFileSync(join(folder, "while-paused.txt"), "x");
    for (const each of others) await vi.waitFor(() => expect(hasLost(each)).toBe(true), slow);
    await untilAllSee(others);
    leader.child.kill("SIGCONT");
    await vi.waitFor(() => expect(hasLost(leader)).toBe(true), slow);
    await untilAllSee(processes);
    for (const each of others) {
      expect(pathsSeen(each)).not.toContain("while-paused.txt");
      const appeared = each.seen.flatMap((change) => (change.kind === "appeared" ? [change.path] : []));
      expect(appeared).toEqual([...new Set(appeared)]);
    }
    expect(await leaderOf(processes)).not.toBe(leader);
  });
});

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("exit", () => resolve());
    child.kill("SIGKILL");
  });
}

function pathsSeen({ seen }: InstanceProcess): string[] {
  return seen.flatMap((change) => (change.kind === "lost" ? [] : [change.path]));
}

function hasLost({ seen }: InstanceProcess): boolean {
  return seen.some(({ kind }) => kind === "lost");
}
