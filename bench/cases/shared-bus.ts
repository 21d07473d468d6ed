/** Messages through the bus to one, three and six instances: how many a second, and what each takes. */
import { randomUUID } from "node:crypto";
import type { Case, Row } from "../case.ts";
import { createRuntime } from "../../src/server/runtime.ts";
import { openSharedState } from "../../src/state/open-shared-state.ts";
import type { SharedState } from "../../src/state/shared-state.ts";
import { median } from "../figures.ts";
import { cpuMicrosWithEnded } from "../meter.ts";
import { type Services, startServices } from "../shared/services.ts";

const subscriberCounts = [1, 3, 6];
const messageCount = 3000;
const inFlight = 64;
const body = { changes: [{ kind: "updated", path: "folder-000/file-0000.txt" }] };

export const busCase: Case = {
  name: "shared-bus",
  title: `${messageCount} changes of one mount, ${inFlight} at a time, published by one instance and received by one, three and six (all in one process)`,
  needs: [],
  isLong: true,
  columns: [
    { key: "perSecond", label: "messages/s", digits: 0 },
    { key: "engine", label: "engine, CPU µs a message", digits: 1 },
    { key: "instances", label: "all instances", digits: 1 },
    { key: "alone", label: "one alone, p50 ms", digits: 2 },
  ],
  targets: [],
  async run({ rounds }) {
    const services = await startServices();
    try {
      const rows: Row[] = [];
      for (const [engine, url] of [["NATS", services.busUrl] as const, ["PostgreSQL", undefined] as const])
        for (const count of subscriberCounts) rows.push(await measure(engine, count, services, url, rounds));
      return rows;
    } finally {
      await services.stop();
    }
  },
};

async function measure(
  name: string,
  subscriberCount: number,
  services: Services,
  bus: string | undefined,
  rounds: number,
): Promise<Row> {
  const states: SharedState[] = [];
  const stop = new AbortController();
  const runtime = createRuntime(process.stderr);
  const enginePid = bus === undefined ? services.databasePid : services.busPid;
  const topic = `mount:${randomUUID()}`;
  let left = 0;
  let arrived: (() => void) | undefined;
  try {
    for (let count = 0; count < subscriberCount; count += 1) {
      const state = await openSharedState({
        state: services.stateUrl(`bus_${name.toLowerCase()}`),
        bus,
        runtime,
        version: "0",
      });
      states.push(state);
      const message = (): void => {
        left -= 1;
        if (left === 0) arrived?.();
      };
      const gap = (): void => {
        throw new Error(`${name} has lost messages`);
      };
      await state.bus.subscribe(topic, { message, gap }, stop.signal);
    }
    const send = async (count: number, atOnce: number): Promise<void> => {
      left = count * subscriberCount;
      const all = new Promise<void>((resolve) => (arrived = resolve));
      let unsent = count;
      const publish = async (): Promise<void> => {
        while (unsent-- > 0) await states[0]!.bus.publish({ topic, body, fence: 0 });
      };
      await Promise.all([all, ...Array.from({ length: atOnce }, publish)]);
    };
    await send(messageCount / 3, inFlight);
    const taken: { perSecond: number; engine: number; instances: number }[] = [];
    const alone: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const [engine, from, own] = [cpuMicrosWithEnded(enginePid), performance.now(), process.cpuUsage()];
      await send(messageCount, inFlight);
      const seconds = (performance.now() - from) / 1000;
      const { user, system } = process.cpuUsage(own);
      taken.push({
        perSecond: messageCount / seconds,
        engine: (cpuMicrosWithEnded(enginePid) - engine) / messageCount,
        instances: (user + system) / messageCount,
      });
      for (let count = 0; count < 50; count += 1) {
        const sent = performance.now();
        await send(1, 1);
        alone.push(performance.now() - sent);
      }
    }
    const middle = (key: keyof (typeof taken)[0]): number => median(taken.map((row) => row[key]));
    const figures = { perSecond: middle("perSecond"), engine: middle("engine"), instances: middle("instances") };
    return { contestant: `${name}, ${subscriberCount}`, figures: { ...figures, alone: median(alone) } };
  } finally {
    stop.abort();
    await Promise.all(states.map((state) => state.close()));
  }
}
