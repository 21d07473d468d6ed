/** A Drive of ten thousand documents: what the first look at all of them, a look when nothing changed, and reading cost beside waiting for it. */
import { fork } from "node:child_process";
import { z } from "zod";
import { createRuntime } from "../../src/server/runtime.ts";
import type { Source } from "../../src/source.ts";
import gdrive from "../../src/sources/gdrive.ts";
import { fileFields } from "../../src/sources/gdrive/drive-objects.ts";
import type { Case } from "../case.ts";
import { median } from "../figures.ts";

const documents = 10_000;
const read = 1000;
const readsAtOnce = 8;
const latencyMs = 50;

const call = { caller: { id: "bench" }, signal: new AbortController().signal };

interface Measured {
  readonly ms: number;
  readonly requests: number;
}

export const driveCases: readonly Case[] = [
  {
    name: "drive",
    title: `a Drive of ${documents} documents that takes ${latencyMs} ms to answer anything`,
    needs: [],
    columns: [
      { key: "requests", label: "requests", digits: 0 },
      { key: "ms", label: "ms", digits: 0 },
      { key: "ratio", label: "× waiting", digits: 2 },
    ],
    targets: [
      {
        says: "the first look at 10,000 documents, × waiting for Drive",
        row: "first look",
        column: "ratio",
        atMost: 1.5,
      },
      { says: "requests of a look when nothing changed", row: "nothing changed", column: "requests", atMost: 2 },
      { says: "reading 1,000 documents, 8 at once, × waiting for Drive", row: "reading", column: "ratio", atMost: 1.5 },
    ],
    async run({ rounds }) {
      const stub = await startStub();
      const taken: Record<string, Measured[]> = { bare: [], "first look": [], "nothing changed": [], reading: [] };
      for (let round = 0; round < rounds; round += 1) {
        taken["bare"]!.push(await measured(stub, () => walkBare(stub.rootUrl)));
        const source = await open(stub.rootUrl);
        taken["first look"]!.push(await measured(stub, () => listAll(source)));
        taken["nothing changed"]!.push(await measured(stub, () => lookAgain(source)));
        taken["reading"]!.push(await measured(stub, () => readSome(source)));
        await source.close?.();
      }
      stub.stop();
      return Object.entries(taken).map(([contestant, all]) => {
        const { requests } = all[0]!;
        const ms = median(all.map((each) => each.ms));
        // A page of a thousand takes the fake its time to make, beside the latency; a document does not.
        const waitMs = contestant === "reading" ? latencyMs / readsAtOnce : perRequest(taken["bare"]!);
        return { contestant, figures: { requests, ms, ratio: ms / (requests * waitMs) } };
      });
    },
  },
];

interface Stub {
  readonly rootUrl: string;
  asked(): Promise<number>;
  stop(): void;
}

async function startStub(): Promise<Stub> {
  const stub = fork(new URL("../contestants/drive-stub.ts", import.meta.url), [String(documents), String(latencyMs)], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const [line] = (await new Promise<Buffer>((resolve) => stub.stdout!.once("data", resolve))).toString().split("\n");
  return {
    rootUrl: line!,
    asked: () =>
      new Promise((resolve) => {
        stub.once("message", (count) => resolve(Number(count)));
        stub.send("asked");
      }),
    stop: () => stub.disconnect(),
  };
}

function perRequest(all: readonly Measured[]): number {
  return median(all.map(({ ms, requests }) => ms / requests));
}

function open(rootUrl: string): Promise<Source> {
  const options = gdrive.options(z).parse({ anonymous: true, keep: false, drives: [], rootUrl });
  return gdrive.open(options, createRuntime(process.stderr));
}

async function measured({ asked }: Stub, work: () => Promise<void>): Promise<Measured> {
  const before = await asked();
  const begun = performance.now();
  await work();
  const ms = performance.now() - begun;
  return { ms, requests: (await asked()) - before };
}

/** The same pages, and nothing done with them. */
async function walkBare(rootUrl: string): Promise<void> {
  const fields = `files(${fileFields(false)}),nextPageToken`;
  let pageToken: string | undefined;
  do {
    const query = new URLSearchParams({ pageSize: "1000", q: "trashed = false", fields });
    if (pageToken !== undefined) query.set("pageToken", pageToken);
    const page = (await (await fetch(`${rootUrl}drive/v3/files?${query}`)).json()) as {
      readonly nextPageToken?: string;
    };
    pageToken = page.nextPageToken;
  } while (pageToken !== undefined);
}

async function listAll(source: Source): Promise<void> {
  let found = 0;
  let cursor: string | undefined;
  do {
    const page = await source.list({ limit: 1000, ...(cursor !== undefined && { cursor }) }, call);
    found += page.items.length;
    cursor = page.next;
  } while (cursor !== undefined);
  if (found !== documents) throw new Error(`${found} documents were listed of ${documents}`);
}

/** To begin to watch is to look. */
async function lookAgain(source: Source): Promise<void> {
  const stop = new AbortController();
  await source.watch!({ ...call, signal: stop.signal });
  stop.abort();
}

async function readSome(source: Source): Promise<void> {
  const { items } = await source.list({ limit: read }, call);
  let next = 0;
  const reader = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) await source.read(items[at]!, call);
  };
  await Promise.all(Array.from({ length: readsAtOnce }, reader));
}
