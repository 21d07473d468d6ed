/** The first page of 1,000 files for a caller with a token, with 100 access rules and without. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { compare, cpuColumns, type Case, type Entrant } from "../case.ts";
import type { Contestant, Start } from "../contestants.ts";
import { openLanes } from "../lanes.ts";
import { launch, type Running } from "../launch.ts";
import { list } from "../questions.ts";

const program = join(import.meta.dirname, "..", "..", "bin", "pressmark.js");
const pages = 20;

/** Most match nothing, as most rules do on most pages; a third match at any depth. */
const rules = [
  { allow: ["group:staff"] },
  ...Array.from({ length: 99 }, (_, at) => ({
    deny: ["group:staff"],
    [at % 2 === 0 ? "paths" : "files"]: [at % 3 === 0 ? `**/secret-${at}*` : `tree/private-${at}`],
  })),
];

/** A server with this config, and the token of the caller "aki". */
export function startWithToken(name: string, base: string, config: object): Start {
  const env = { ...process.env, XDG_STATE_HOME: join(base, "state"), XDG_CACHE_HOME: join(base, "state") };
  // Beside the files, so that rules about files can name them.
  const file = join(base, `${name}.json`);
  writeFileSync(file, JSON.stringify({ callers: { aki: { groups: ["staff"] } }, ...config }));
  const token = execFileSync(process.execPath, [program, "token", "create", "aki", "--config", file], {
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return { args: [program, "serve", "--port", "0", "--config", file], env, token: token.trim() };
}

export const rulesCase: Case = {
  name: "list-rules",
  title: "list the first 1,000 of 100,000 files with a token, HTTP, with 100 rules and without",
  needs: ["tree"],
  columns: cpuColumns.map((column) => (column.key === "ratio" ? { ...column, label: "× no rules" } : column)),
  targets: [{ says: "a page of 1,000 with 100 rules", row: "100 rules", column: "ratio", atMost: 1.1 }],
  async run({ fixture, contestants, rounds }) {
    const pressmark = contestants.find(({ name }) => name === "pressmark")!;
    const running: Running[] = [];
    try {
      const entrants: Entrant[] = [];
      for (const [name, settings] of Object.entries({ "no rules": {}, "100 rules": { rules } })) {
        const command: Contestant["command"] = () =>
          startWithToken(name.replace(" ", "-"), dirname(fixture.tree), {
            mounts: { files: { source: "file", root: fixture.tree } },
            // Indexing would count too.
            search: { enabled: false },
            ...settings,
          });
        const started = await launch({ ...pressmark, name, command }, "http", { folder: fixture.tree, pageSize: 1000 });
        running.push(started);
        entrants.push({
          name,
          pid: started.pid,
          async prepare() {
            const { lanes, close } = await openLanes(started, "modern", 1);
            const walk = async () => {
              const latencies: number[] = [];
              for (let page = 0; page < pages; page += 1) {
                const begun = performance.now();
                const { body } = await lanes[0]!.ask(list(), true);
                latencies.push(performance.now() - begun);
                const { result } = JSON.parse(body) as { result: { resources: unknown[] } };
                if (result.resources.length !== 1000) throw new Error(`a page has ${result.resources.length} entries`);
              }
              return { units: pages, latencies };
            };
            await walk();
            return { run: walk, close };
          },
        });
      }
      return await compare(entrants, rounds, "no rules");
    } finally {
      await Promise.all(running.map(({ stop }) => stop()));
    }
  },
};
