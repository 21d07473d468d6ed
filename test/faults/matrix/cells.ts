/** The matrix: every fault for every part, or why there is nothing to try. */
import { faults } from "./faults.ts";
import type { Cell } from "./run-cell.ts";
import { analysis } from "./parts/analysis.ts";
import { config } from "./parts/config.ts";
import { missingPostgres, postgres, sqlite } from "./parts/databases.ts";
import { gatewayHttp, gatewayProgram } from "./parts/gateway.ts";
import { index } from "./parts/index.ts";
import { ledger } from "./parts/ledger.ts";
import { state } from "./parts/state.ts";

export const parts = [index, state, config, analysis, ledger, gatewayProgram, gatewayHttp, sqlite, postgres] as const;

const noFiles = "the gateway keeps nothing on the disk but its index, which has cells of its own";
const notOurs = "the files are PostgreSQL's; Pressmark sees answers alone, and kill and pause cover missing ones";
const noWatches = "the part watches no files";

/** Cells that mean nothing, with the reason. */
const notApplicable: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  analysis: { "inotify exhausted": noWatches },
  ledger: { "inotify exhausted": noWatches },
  "gateway (program)": { "disk full": noFiles, "read-only": noFiles, "inotify exhausted": noWatches },
  "gateway (HTTP)": {
    "disk full": noFiles,
    "read-only": noFiles,
    removed: "nothing of another HTTP server lies here; one that is gone is the cell kill",
    "inotify exhausted": noWatches,
  },
  PostgreSQL: {
    "disk full": notOurs,
    "read-only": notOurs,
    removed: notOurs,
    garbled: notOurs,
    "inotify exhausted": noWatches,
  },
};

export interface TableCell extends Cell {
  readonly name: string;
  /** Why it means nothing for this part. */
  readonly notApplicable?: string;
  /** Why it cannot be tried on this machine. */
  readonly missing?: string;
}

export const cells: readonly TableCell[] = parts.flatMap((part) =>
  faults.map((fault) => ({
    part,
    fault,
    name: `${part.name} × ${fault.name}`,
    notApplicable: notApplicable[part.name]?.[fault.name],
    missing: ("missing" in fault ? fault.missing : undefined) ?? (part === postgres ? missingPostgres : undefined),
  })),
);

export const runnable = cells.filter((cell) => cell.notApplicable === undefined && cell.missing === undefined);

/** What this machine cannot do, by reason, one line each. */
export function reportMissing(): string {
  const lines = cells
    .filter((cell) => cell.notApplicable === undefined && cell.missing !== undefined)
    .map(({ name, missing }) => `not tried: ${name} (${missing})`);
  return lines.join("\n");
}
