/** 10,000 listens on one instance with embedded state, and on three with shared state: an update, and what a listen holds. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Case, Row } from "../case.ts";
import { median } from "../figures.ts";
import { openLanes } from "../lanes.ts";
import { openListens } from "../listens.ts";
import { settledBytes } from "../meter.ts";
import { read } from "../questions.ts";
import { drive, meter, partsOf, startFleet } from "../shared/instances.ts";
import type { ListenersMessage } from "../shared/listeners.ts";
import { type Services, startServices } from "../shared/services.ts";

const listenCount = 10_000;
/** A process may have too few descriptors for more. */
const mostOfProcess = 5000;

export const sharedListensCase: Case = {
  name: "shared-listens",
  title: "10,000 listens, HTTP: an update of the resource that all of them listen for",
  needs: [],
  isLong: true,
  columns: [
    { key: "last", label: "until the last, ms", digits: 0 },
    { key: "instance", label: "instances, CPU µs a listen", digits: 1 },
    { key: "database", label: "database, CPU µs an update", digits: 0 },
    { key: "bus", label: "bus", digits: 0 },
    { key: "kib", label: "KiB a listen", digits: 1 },
    { key: "listens", label: "listens", digits: 0 },
  ],
  targets: [],
  async run({ rounds }) {
    const services = await startServices();
    try {
      return [
        await measure("embedded, 1 instance", 1, undefined, rounds),
        await measure("shared, 3 instances", 3, services, rounds),
      ];
    } finally {
      await services.stop();
    }
  },
};

async function measure(name: string, count: number, services: Services | undefined, rounds: number): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-bench-"));
  const file = join(folder, "watched.txt");
  writeFileSync(file, "watched\n");
  const config = { mounts: { files: { source: "file", root: folder } }, search: { enabled: false } };
  const fleet = await startFleet({ name: count === 1 ? "one" : "three", count, config, services });
  const listeners: ChildProcess[] = [];
  try {
    // What a first request and a first listen load is not counted as memory of the listens.
    for (const instance of fleet.instances) {
      const { lanes, close } = await openLanes(instance, "modern", 8);
      await drive(lanes, [read(`file://${file}`)], 4000, 1);
      close();
      const { port, path } = instance.http!;
      (await openListens(port, path, `file://${file}`, 100)).close();
    }
    const before = await Promise.all(fleet.instances.map(({ pid }) => settledBytes(pid)));
    const each = Math.ceil(listenCount / count);
    for (const { http } of fleet.instances) {
      for (let left = each; left > 0; left -= mostOfProcess) {
        const args = [http!.port, http!.path, `file://${file}`, Math.min(left, mostOfProcess)].map(String);
        const child = fork(join(import.meta.dirname, "..", "shared", "listeners.ts"), args);
        listeners.push(child);
        await nextOf(child, (message) => message === "ready");
      }
    }
    const after = await Promise.all(fleet.instances.map(({ pid }) => settledBytes(pid)));
    const bytes = after.reduce((sum, held, index) => sum + held - before[index]!, 0);
    const parts = partsOf(fleet, services);
    const taken: Record<string, number>[] = [];
    for (let round = -1; round < rounds; round += 1) {
      // A file is announced at most once a second.
      await wait(1100);
      await Promise.all(
        listeners.map((child) => {
          const armed = nextOf(child, (message) => message === "armed");
          child.send("arm");
          return armed;
        }),
      );
      const spent = meter(parts);
      const from = process.hrtime.bigint();
      const heard = listeners.map((child) => nextOf(child, (message) => typeof message === "object"));
      appendFileSync(file, "touched\n");
      const times = (await Promise.all(heard)) as { readonly heardAt: string }[];
      const last = Math.max(...times.map(({ heardAt }) => Number(BigInt(heardAt) - from))) / 1e6;
      const used = Object.entries(meter(parts)).map(([part, micros]) => [part, micros - spent[part]!] as const);
      if (round >= 0) taken.push({ last, ...Object.fromEntries(used) });
    }
    const middle = (key: string) => median(taken.map((row) => row[key] ?? Number.NaN));
    const listens = each * count;
    const [database, bus] = [middle("database"), middle("bus")];
    return {
      contestant: name,
      figures: {
        last: middle("last"),
        instance: middle("instance") / listens,
        database,
        bus,
        kib: bytes / listens / 1024,
        listens,
      },
    };
  } finally {
    for (const child of listeners) {
      if (child.exitCode !== null) continue;
      const gone = once(child, "exit");
      child.disconnect();
      await gone;
    }
    await fleet.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function nextOf(child: ChildProcess, fits: (message: ListenersMessage) => boolean): Promise<ListenersMessage> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      done();
      reject(new Error("not every listen has heard of the update within a minute"));
    }, 60_000);
    const hear = (message: unknown): void => {
      if (!fits(message as ListenersMessage)) return;
      done();
      resolve(message as ListenersMessage);
    };
    const ended = (): void => {
      done();
      reject(new Error("a process with listens has ended"));
    };
    const done = (): void => {
      clearTimeout(timer);
      child.off("message", hear).off("exit", ended);
    };
    child.on("message", hear).on("exit", ended);
  });
}
