/** Ten thousand changes at once: a count, not a time. */
import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Case } from "../case.ts";
import { contestants as everyone } from "../contestants.ts";
import { hear } from "../hear.ts";
import { launch } from "../launch.ts";
import { fileName, folderName, makeTree } from "../make-tree.ts";

const folders = 10;
const filesEach = 1000;
const bursts = 3;
/** A burst is over when nothing was heard for so long: a path is announced at most once a second. */
const quietMs = 2500;
const patienceMs = 20_000;

export const burstCases: readonly Case[] = [
  // One write each: a file that is emptied and then written is changed twice, and may be told twice if that takes long.
  burstCase("burst-in-place", "written in place", (file, text) => appendFileSync(file, text)),
  burstCase("burst-rename", "replaced by a rename", (file, text) => {
    writeFileSync(`${file}~`, text);
    renameSync(`${file}~`, file);
  }),
];

function burstCase(name: string, says: string, change: (file: string, text: string) => void): Case {
  return {
    name,
    title: `10,000 files ${says} in one burst, all of them in one listen, HTTP (the worst of ${bursts} bursts)`,
    needs: [],
    columns: [
      { key: "told", label: "told", digits: 0 },
      { key: "missing", label: "missing", digits: 0 },
      { key: "twice", label: "told twice", digits: 0 },
      { key: "burst", label: "s of changes", digits: 2 },
      { key: "last", label: "s until the last was told", digits: 2 },
    ],
    targets: [
      { says: `missing of 10,000 ${says}`, column: "missing", atMost: 0 },
      { says: `told twice of 10,000 ${says}`, column: "twice", atMost: 0 },
    ],
    async run() {
      const pressmark = everyone.find((one) => one.name === "pressmark")!;
      const scratch = mkdtempSync(join(tmpdir(), "pressmark-bench-"));
      const root = join(scratch, "burst");
      makeTree(root, { folders, files: filesEach });
      const files = Array.from({ length: folders * filesEach }, (_, index) =>
        join(root, folderName(Math.floor(index / filesEach), folders), fileName(index % filesEach, filesEach)),
      );
      const started = await launch(pressmark, "http", { folder: root, pageSize: 1000 });
      try {
        const told = new Map<string, number>();
        let lastAt = 0;
        const { port, path } = started.http!;
        const uris = files.map((file) => `file://${file}`);
        const hearing = await hear(port, path, uris, (uri) => {
          told.set(uri, (told.get(uri) ?? 0) + 1);
          lastAt = performance.now();
        });
        const worst = { told: uris.length, missing: 0, twice: 0, burst: 0, last: 0 };
        for (let burst = 0; burst < bursts; burst++) {
          told.clear();
          const from = (lastAt = performance.now());
          for (const file of files) change(file, `${burst}\n`);
          const written = performance.now();
          while (performance.now() - Math.max(lastAt, written) < quietMs && performance.now() - written < patienceMs)
            await wait(100);
          worst.told = Math.min(worst.told, told.size);
          worst.missing = Math.max(worst.missing, uris.filter((uri) => !told.has(uri)).length);
          worst.twice = Math.max(worst.twice, [...told.values()].filter((times) => times > 1).length);
          worst.burst = Math.max(worst.burst, (written - from) / 1000);
          worst.last = Math.max(worst.last, (lastAt - from) / 1000);
        }
        hearing.close();
        return [{ contestant: "pressmark", figures: worst }];
      } finally {
        await started.stop();
        rmSync(scratch, { recursive: true, force: true });
      }
    },
  };
}
