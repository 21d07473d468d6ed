/** Files that did not change, read again through our client: with conditional reads, and without the cache that they need. */
import { dirname } from "node:path";
import { createAnswerCache } from "../../src/client/answer-cache.ts";
import { connect, type RemoteServer } from "../../src/client/connect.ts";
import type { Call } from "../../src/resources.ts";
import { compare, cpuColumns, type Case, type Entrant } from "../case.ts";
import type { Contestant } from "../contestants.ts";
import { median } from "../figures.ts";
import { documentBytes, documentCount } from "../fixture.ts";
import { launch, type Running } from "../launch.ts";
import { startWithToken } from "./rules.ts";

const passes = 5;
const call: Call = { caller: { id: "bench" }, signal: new AbortController().signal };

/** A client that counts the bytes of its responses. */
async function open(
  { http, token }: Running,
  maxEntries: number,
): Promise<{ server: RemoteServer; received(): number }> {
  let bytes = 0;
  const server = await connect(`http://127.0.0.1:${http!.port}${http!.path}`, {
    era: "modern",
    headers: { Authorization: `Bearer ${token}` },
    cache: createAnswerCache({ maxEntries }),
    async fetch(to, init) {
      const response = await fetch(to, init);
      bytes += Number(response.headers.get("content-length"));
      return response;
    },
  });
  return { server, received: () => bytes };
}

export const rereadCase: Case = {
  name: "reread",
  title: `read ${documentCount} files of ${documentBytes / 1000} kB again that did not change, HTTP, 2026-07-28, with our client`,
  needs: ["documents"],
  columns: [
    ...cpuColumns.map((column) => (column.key === "ratio" ? { ...column, label: "× whole" } : column)),
    { key: "clientCpu", label: "client CPU µs", digits: 1 },
    { key: "bytes", label: "bytes", digits: 0 },
    { key: "bytesRatio", label: "× whole", digits: 4 },
  ],
  targets: [
    { says: "a conditional reread, × the server's CPU of a whole one", row: "conditional", column: "ratio", atMost: 1 },
    {
      says: "a conditional reread, × the bytes of a whole one",
      row: "conditional",
      column: "bytesRatio",
      atMost: 0.01,
    },
  ],
  async run({ fixture, contestants, rounds }) {
    const pressmark = contestants.find(({ name }) => name === "pressmark")!;
    // Indexing would count too.
    const config = { mounts: { files: { source: "file", root: fixture.documents } }, search: { enabled: false } };
    const running: Running[] = [];
    const spent = new Map<string, { clientCpu: number[]; bytes: number[] }>();
    try {
      const entrants: Entrant[] = [];
      for (const [name, maxEntries] of Object.entries({ whole: 0, conditional: 1000 })) {
        const command: Contestant["command"] = () => startWithToken(name, dirname(fixture.documents), config);
        const started = await launch({ ...pressmark, name, command }, "http", { folder: "", pageSize: 1000 });
        running.push(started);
        const own = { clientCpu: [] as number[], bytes: [] as number[] };
        spent.set(name, own);
        entrants.push({
          name,
          pid: started.pid,
          async prepare() {
            const { server, received } = await open(started, maxEntries);
            const uris = (await server.list({}, call)).items.map(({ uri }) => uri);
            const pass = async () => {
              const latencies: number[] = [];
              for (const uri of uris) {
                const begun = performance.now();
                const { contents } = await server.read(uri, call);
                latencies.push(performance.now() - begun);
                const { body } = contents[0]!;
                if (!("text" in body) || body.text.length !== documentBytes) throw new Error(`${uri} is incomplete`);
              }
              return latencies;
            };
            // The second pass fills the server's cache.
            for (let times = 0; times < 2; times += 1) await pass();
            return {
              async run() {
                const [cpu, bytes] = [process.cpuUsage(), received()];
                const latencies: number[] = [];
                for (let times = 0; times < passes; times += 1) latencies.push(...(await pass()));
                const { user, system } = process.cpuUsage(cpu);
                own.clientCpu.push((user + system) / latencies.length);
                own.bytes.push((received() - bytes) / latencies.length);
                return { units: latencies.length, latencies };
              },
              close: () => void server.close(),
            };
          },
        });
      }
      const rows = await compare(entrants, rounds, "whole");
      const bytesOf = (name: string) => median(spent.get(name)!.bytes);
      return rows.map(({ contestant, figures }) => ({
        contestant,
        figures: {
          ...figures,
          clientCpu: median(spent.get(contestant)!.clientCpu),
          bytes: bytesOf(contestant),
          bytesRatio: bytesOf(contestant) / bytesOf("whole"),
        },
      }));
    } finally {
      await Promise.all(running.map(({ stop }) => stop()));
    }
  },
};
