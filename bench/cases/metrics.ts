/** A hundred series of ten thousand points: what it costs to give them, beside parsing what the server sent. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import { createRuntime } from "../../src/server/runtime.ts";
import metrics, { createMetrics } from "../../src/sources/metrics.ts";
import type { Case } from "../case.ts";
import { median } from "../figures.ts";

const seriesCount = 100;
const pointCount = 10_000;
const stepSeconds = 15;
const formats = ["json", "csv", "svg"] as const;

export const metricsCases: readonly Case[] = [
  {
    name: "metrics-matrix",
    title: "100 series × 10,000 points, fetched and given as JSON, CSV and SVG (CPU)",
    needs: [],
    columns: [
      { key: "ms", label: "CPU ms", digits: 0 },
      { key: "ratio", label: "× fetch and parse", digits: 2 },
      { key: "render", label: "rendering, × parse", digits: 2 },
    ],
    targets: formats.map((format) => ({
      says: `rendering of a million points as ${format}, × parsing them`,
      row: format,
      column: "render",
      atMost: 2,
    })),
    async run({ rounds }) {
      const end = Math.floor(Date.now() / 1000);
      const start = end - (pointCount - 1) * stepSeconds;
      const body = Buffer.from(JSON.stringify(makeMatrix(start)));
      const server = createServer({ keepAliveTimeout: 600_000 }, (_request, response) => void response.end(body));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const points = seriesCount * pointCount;
      const options = { ...metrics.options(z).parse({ url }), maxPoints: points };
      const source = createMetrics(options, createRuntime(process.stderr));
      const call = { caller: { id: "bench" }, signal: new AbortController().signal };
      const taken: Record<string, number[]> = { bare: [], parse: [], json: [], csv: [], svg: [] };
      try {
        for (let round = 0; round < rounds + 1; round += 1) {
          const bare = await cpuOf(async () => void JSON.parse(await (await fetch(url)).text()));
          const text = body.toString("utf8");
          const parse = await cpuOf(async () => void JSON.parse(text));
          const given: Record<string, number> = { bare, parse };
          for (const format of formats) {
            const query = { promql: "x", range: `${start}/${end}`, step: String(stepSeconds), format };
            given[format] = await cpuOf(async () => {
              const [part] = await source.read({ path: "query", query }, call);
              if (!part || !("text" in part.body) || part.body.text.length < 100_000)
                throw new Error("nothing was given");
            });
          }
          // The first is for the compiler.
          if (round > 0) for (const [name, ms] of Object.entries(given)) taken[name]!.push(ms);
        }
      } finally {
        server.close();
        server.closeAllConnections();
      }
      const bare = median(taken["bare"]!);
      const parse = median(taken["parse"]!);
      return ["bare", ...formats].map((contestant) => {
        const ms = median(taken[contestant]!);
        return { contestant, figures: { ms, ratio: ms / bare, render: (ms - bare) / parse } };
      });
    },
  },
];

async function cpuOf(work: () => Promise<void>): Promise<number> {
  globalThis.gc?.();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function makeMatrix(start: number): object {
  let seed = 1;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const result = Array.from({ length: seriesCount }, (_, index) => {
    let value = 100 * random();
    const values = Array.from({ length: pointCount }, (_each, at) => {
      value += random() - 0.5;
      return [start + at * stepSeconds, String(value)];
    });
    return { metric: { __name__: "x", instance: `host-${index}:9100`, job: "bench" }, values };
  });
  return { status: "success", data: { resultType: "matrix", result } };
}
