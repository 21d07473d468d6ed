/** The shared search index with more and more texts: what indexing takes, what it holds, and what a search takes. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Case, Row } from "../case.ts";
import { once } from "../make-tree.ts";
import { residentBytes } from "../meter.ts";
import { madeUp, madeUpQuestions } from "../search/scale.ts";
import { compareParties, indexed, meter, partsOf, search, startFleet } from "../shared/instances.ts";
import { startServices, type Services } from "../shared/services.ts";

const counts = [1000, 10_000, 100_000];
const questionCount = 100;

export const growthCase: Case = {
  name: "shared-growth",
  title: "1,000 to 100,000 texts of 0.7 KB in the shared index: per text, and per search",
  needs: ["texts"],
  isLong: true,
  columns: [
    { key: "indexInstance", label: "indexing: instance, CPU µs", digits: 0 },
    { key: "indexDatabase", label: "database", digits: 0 },
    { key: "bytes", label: "database, bytes", digits: 0 },
    { key: "passages", label: "passages", digits: 2 },
    { key: "searchInstance", label: "search: instance, CPU µs", digits: 0 },
    { key: "searchDatabase", label: "database", digits: 0 },
    { key: "p50", label: "p50 ms", digits: 1 },
    { key: "p99", label: "p99 ms", digits: 1 },
    { key: "rss", label: "instance, RSS MiB", digits: 0 },
  ],
  targets: [],
  async run({ fixture, rounds }) {
    const services = await startServices();
    const rows: Row[] = [];
    try {
      for (const count of counts)
        rows.push(await measure(services, join(dirname(fixture.texts), `texts-${count}`), count, rounds));
      return rows;
    } finally {
      await services.stop();
    }
  },
};

async function measure(services: Services, root: string, count: number, rounds: number): Promise<Row> {
  once(root, count, () => {
    for (const { path, text } of madeUp(count)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
  });
  const texts = [...madeUp(count)];
  const config = { mounts: { files: { source: "file", root } } };
  const name = `texts_${count}`;
  const idle = meter({ database: [services.databasePid] });
  const fleet = await startFleet({ name, count: 1, config, services });
  try {
    await indexed(fleet);
    const parts = partsOf(fleet, services);
    const spent = meter(parts);
    const { bytes, passages } = await services.sizeOf(name);
    const questions = madeUpQuestions(texts, questionCount).map(search);
    const party = { name, target: fleet.instances[0]!, parts };
    const asked = { questions, count: questionCount, leastBytes: 100, inFlight: 2, rounds };
    const [figures] = await compareParties([party], asked);
    return {
      contestant: count.toLocaleString("en"),
      figures: {
        indexInstance: spent["instance"]! / count,
        indexDatabase: (spent["database"]! - idle["database"]!) / count,
        bytes: bytes / count,
        passages: passages / count,
        searchInstance: figures!.cpu["instance"]!,
        searchDatabase: figures!.cpu["database"]!,
        p50: figures!.p50,
        p99: figures!.p99,
        rss: residentBytes(fleet.instances[0]!.pid) / 1024 ** 2,
      },
    };
  } finally {
    await fleet.stop();
  }
}
