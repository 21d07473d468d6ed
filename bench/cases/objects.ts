/** A prefix of a hundred thousand keys: what its pages cost beside asking the store for them and looking for the keys alone. */
import { type ChildProcess, fork } from "node:child_process";
import { z } from "zod";
import { createRuntime } from "../../src/server/runtime.ts";
import s3 from "../../src/sources/s3.ts";
import type { Case } from "../case.ts";
import { median } from "../figures.ts";

const keys = 100_000;
const pageSize = 1000;

interface Walk {
  readonly ms: number;
  readonly pages: number;
  readonly keys: number;
}

export const objectCases: readonly Case[] = [
  {
    name: "s3-list",
    title: "list 100,000 keys of one prefix, 1,000 to a page, from a store that does nothing else",
    needs: [],
    columns: [
      { key: "pages", label: "requests", digits: 0 },
      { key: "ms", label: "ms a page", digits: 2 },
      { key: "ratio", label: "× the store", digits: 2 },
    ],
    targets: [
      { says: "pages of a prefix, × those of the store", column: "requests", atMost: 1 },
      { says: "a page of a prefix, × asking the store for it", column: "ratio", atMost: 2 },
    ],
    async run({ rounds }) {
      const { endpoint, stub } = await startStub();
      const walks: Record<string, Walk[]> = { bare: [], pressmark: [] };
      for (let round = 0; round < rounds; round += 1) {
        walks["bare"]!.push(await walkBare(endpoint));
        walks["pressmark"]!.push(await walkSource(endpoint));
      }
      stub.disconnect();
      const figure = (name: string) => median(walks[name]!.map(({ ms, pages }) => ms / pages));
      const pagesOf = (name: string) => walks[name]![0]!.pages;
      return Object.keys(walks).map((contestant) => ({
        contestant,
        figures: {
          pages: pagesOf(contestant),
          requests: pagesOf(contestant) / pagesOf("bare"),
          ms: figure(contestant),
          ratio: figure(contestant) / figure("bare"),
        },
      }));
    },
  },
];

async function startStub(): Promise<{ readonly endpoint: string; readonly stub: ChildProcess }> {
  const stub = fork(new URL("../contestants/s3-stub.ts", import.meta.url), [String(keys)], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const [line] = (await new Promise<Buffer>((resolve) => stub.stdout!.once("data", resolve))).toString().split("\n");
  return { endpoint: line!, stub };
}

async function walkBare(endpoint: string): Promise<Walk> {
  const begun = performance.now();
  let found = 0;
  let pages = 0;
  let after: string | undefined;
  do {
    const query = new URLSearchParams({ "list-type": "2", prefix: "logs/", "max-keys": String(pageSize) });
    if (after !== undefined) query.set("start-after", after);
    const xml = await (await fetch(`${endpoint}/bucket?${query}`)).text();
    const names = [...xml.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, name]) => name!);
    found += names.length;
    pages += 1;
    after = xml.includes("<IsTruncated>true") ? names.at(-1) : undefined;
  } while (after !== undefined);
  return { ms: performance.now() - begun, pages, keys: found };
}

async function walkSource(endpoint: string): Promise<Walk> {
  const options = s3.options(z).parse({ buckets: ["bucket"], prefix: "logs/", endpoint, anonymous: true });
  const source = await s3.open(options, createRuntime(process.stderr));
  const call = { caller: { id: "bench" }, signal: new AbortController().signal };
  const begun = performance.now();
  let found = 0;
  let pages = 0;
  let cursor: string | undefined;
  do {
    const page = await source.list({ limit: pageSize, ...(cursor !== undefined && { cursor }) }, call);
    found += page.items.length;
    pages += 1;
    cursor = page.next;
  } while (cursor !== undefined);
  if (found !== keys) throw new Error(`${found} keys were listed of ${keys}`);
  return { ms: performance.now() - begun, pages, keys: found };
}
