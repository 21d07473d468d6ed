/** Reads, lists and searches of an instance with shared state, beside one with embedded state. */
import { setTimeout as wait } from "node:timers/promises";
import type { Case, Column, Row } from "../case.ts";
import { textCount } from "../fixture.ts";
import { list, read } from "../questions.ts";
import { madeUp, madeUpQuestions } from "../search/scale.ts";
import {
  compareParties,
  type Fleet,
  indexed,
  meter,
  type Party,
  partsOf,
  type Requesting,
  search,
  startFleet,
} from "../shared/instances.ts";
import { startServices } from "../shared/services.ts";

const columns: readonly Column[] = [
  { key: "instance", label: "instance, CPU µs", digits: 1 },
  { key: "database", label: "database", digits: 1 },
  { key: "bus", label: "bus", digits: 1 },
  { key: "together", label: "together", digits: 1 },
  { key: "ratio", label: "instance, ×", digits: 2 },
  { key: "ratioTogether", label: "together, ×", digits: 2 },
  { key: "p50", label: "p50 ms", digits: 2 },
  { key: "p99", label: "p99 ms", digits: 2 },
  { key: "bytes", label: "bytes", digits: 0 },
];

const idleSeconds = 20;

/** Requests to a mount of the made-up texts. */
export function requestsTo(root: string): Readonly<Record<"read" | "list" | "search", Requesting>> {
  const texts = [...madeUp(textCount)];
  return {
    read: {
      count: 16_000,
      leastBytes: 500,
      questions: texts.slice(0, 1000).map(({ path }) => read(`file://${root}/${path}`)),
    },
    list: { count: 100, leastBytes: 100_000, questions: [list()] },
    search: { count: 200, leastBytes: 500, questions: madeUpQuestions(texts, 200).map(search) },
  };
}

export const sharedCase: Case = {
  name: "shared-requests",
  title:
    "read 0.7 KB, list 1,000 of 10,000 texts, search them, with a token, HTTP; and a second without requests: embedded and shared state",
  needs: ["texts"],
  isLong: true,
  columns,
  targets: [
    { says: "CPU of a read with shared state, × embedded", row: "read, shared", column: "ratio", atMost: 1.15 },
    { says: "CPU of a list with shared state, × embedded", row: "list, shared", column: "ratio", atMost: 1.15 },
    { says: "CPU of a search with shared state, × embedded", row: "search, shared", column: "ratio", atMost: 2 },
  ],
  async run({ fixture, rounds, inFlight }) {
    const services = await startServices();
    const fleets: Fleet[] = [];
    try {
      const config = { mounts: { files: { source: "file", root: fixture.texts } } };
      const parties: Party[] = [];
      for (const [name, shares] of [["embedded", undefined] as const, ["shared", services] as const]) {
        const fleet = await startFleet({ name, count: 1, config, services: shares, withToken: true });
        fleets.push(fleet);
        await indexed(fleet);
        parties.push({ name, target: fleet.instances[0]!, parts: partsOf(fleet, shares) });
      }
      const rows: Row[] = [];
      for (const [kind, requesting] of Object.entries(requestsTo(fixture.texts))) {
        const figures = await compareParties(parties, { ...requesting, inFlight, rounds });
        for (const { name, cpu, ratio, p50, p99, bytes } of figures)
          rows.push({
            contestant: `${kind}, ${name}`,
            figures: { ...cpu, ratio: ratio["instance"]!, ratioTogether: ratio["together"]!, p50, p99, bytes },
          });
      }
      const before = parties.map(({ parts }) => meter(parts));
      await wait(idleSeconds * 1000);
      for (const [index, { name, parts }] of parties.entries()) {
        const spent = Object.entries(meter(parts)).map(([part, micros]) => {
          return [part, (micros - before[index]![part]!) / idleSeconds] as const;
        });
        rows.push({ contestant: `a second, ${name}`, figures: Object.fromEntries(spent) });
      }
      return rows;
    } finally {
      await Promise.all(fleets.map((fleet) => fleet.stop()));
      await services.stop();
    }
  },
};
