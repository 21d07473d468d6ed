/** From the system's word of a save to the subscriber's. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Case } from "../case.ts";
import { contestants as everyone } from "../contestants.ts";
import { median, quantile } from "../figures.ts";
import type { Fixture } from "../fixture.ts";
import { hear } from "../hear.ts";
import { launch } from "../launch.ts";
import { fileName, folderName } from "../make-tree.ts";

const savesEachRound = 80;
/** How long a save is waited for. */
const patienceMs = 5000;

type Save = (file: string) => void;

/** As editors do that keep the file. */
const inPlace: Save = (file) => writeFileSync(file, readFileSync(file));

/** As editors do that write another and put it in its place. */
const renameOver: Save = (file) => {
  writeFileSync(`${file}~`, readFileSync(file));
  renameSync(`${file}~`, file);
};

export const saveCases: readonly Case[] = [
  saveCase("save-in-place", "a file of 100,000 is written in place", "tree", inPlace),
  saveCase("save-rename", "a file of 100,000 is replaced by a rename", "tree", renameOver),
  saveCase("save-million", "a file of 1,000,000 is replaced by a rename", "million", renameOver),
];

function saveCase(name: string, says: string, kind: keyof Fixture, save: Save): Case {
  return {
    name,
    title: `${says}, until a listen hears of it, HTTP (ms)`,
    needs: [kind],
    columns: [
      { key: "p50", label: "p50 after the event", digits: 1 },
      { key: "p99", label: "p99 after the event", digits: 1 },
      { key: "most", label: "most", digits: 1 },
      { key: "fromWrite", label: "p99 after the write began", digits: 1 },
      { key: "saves", label: "saves", digits: 0 },
    ],
    targets: [
      {
        says: `ms after the event, p99, where ${says}`,
        column: "p99",
        atMost: 50,
        // A machine that lets nobody be on time says nothing about us.
        comparable: ({ allowed = 0 }) => allowed <= 45,
      },
    ],
    async run({ fixture, rounds }) {
      const pressmark = everyone.find((one) => one.name === "pressmark")!;
      const root = fixture[kind];
      const folder = join(root, folderName(0, 1000));
      // A file may be announced once a second, so each is saved once.
      const files = Array.from({ length: Math.min(1000, savesEachRound * rounds) }, (_, file) => fileName(file, 1000));
      const started = await launch(pressmark, "http", { folder: root, pageSize: 1000 });
      const observer = fork(join(import.meta.dirname, "..", "observer.ts"), [folder]);
      try {
        await once(observer, "message");
        const events = new Map<string, bigint>();
        const echoes = new Map<string, bigint>();
        const arrivals = new Map<string, bigint>();
        let arrived: (() => void) | undefined;
        observer.on("message", ({ name: file, at }: { name: string; at?: string }) => {
          if (at === undefined) echoes.set(file, process.hrtime.bigint());
          // The last word on a save is what quiet is counted from; one that comes late is still the first.
          else if (!events.has(file) || !arrivals.has(file)) events.set(file, BigInt(at));
          arrived?.();
        });
        const { port, path } = started.http!;
        const uriOf = (file: string) => `file://${folder}/${file}`;
        const hearing = await hear(port, path, files.map(uriOf), (uri, at) => {
          const file = uri.slice(uri.lastIndexOf("/") + 1);
          if (!arrivals.has(file)) arrivals.set(file, at);
          arrived?.();
        });
        const taken = {
          pressmark: { event: [] as number[], write: [] as number[] },
          echo: { event: [] as number[], write: [] as number[] },
        };
        for (const file of files) {
          // At no fixed distance, so that no rhythm of the server's own is met or missed each time.
          await wait(20 + Math.random() * 60);
          const from = process.hrtime.bigint();
          save(join(folder, file));
          await new Promise<void>((resolve, reject) => {
            const timer = setTimeout(() => {
              const silent = { pressmark: arrivals, "the system": events, "the echo": echoes };
              const who = Object.entries(silent).flatMap(([one, heard]) => (heard.has(file) ? [] : [one]));
              reject(new Error(`nothing was heard of ${file} from ${who.join(", ")}`));
            }, patienceMs);
            arrived = () => {
              if (!arrivals.has(file) || !events.has(file) || !echoes.has(file)) return;
              clearTimeout(timer);
              resolve();
            };
            arrived();
          });
          for (const [who, at] of [
            ["pressmark", arrivals.get(file)!],
            ["echo", echoes.get(file)!],
          ] as const) {
            taken[who].event.push(Number(at - events.get(file)!) / 1e6);
            taken[who].write.push(Number(at - from) / 1e6);
          }
        }
        hearing.close();
        return (["echo", "pressmark"] as const).map((who) => ({
          contestant: who === "echo" ? "fs.watch and a timer of 30 ms" : who,
          figures: {
            allowed: quantile(taken.echo.event, 0.99),
            p50: median(taken[who].event),
            p99: quantile(taken[who].event, 0.99),
            most: Math.max(...taken[who].event),
            fromWrite: quantile(taken[who].write, 0.99),
            saves: files.length,
          },
        }));
      } finally {
        observer.disconnect();
        await started.stop();
      }
    },
  };
}
