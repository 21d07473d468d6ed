/** Every cell of the fault matrix, with several seeds each. To try one again: `FAULTS_SEED=… FAULTS_CELL="index × kill" npm run test:long -- faults`. */
import { describe, it } from "vitest";
import { reportMissing, runnable } from "../faults/matrix/cells.ts";
import { runCell } from "../faults/matrix/run-cell.ts";

const seed = Number(process.env["FAULTS_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));
const rounds = Number(process.env["FAULTS_ROUNDS"] ?? 3);
const only = process.env["FAULTS_CELL"] ?? "";
console.log(`FAULTS_SEED=${seed} FAULTS_ROUNDS=${rounds}\n${reportMissing()}`);

describe.each(Array.from({ length: rounds }, (_, round) => seed + round))("with the seed %i", (each) => {
  it.each(runnable.filter(({ name }) => name.includes(only)))("$name", (cell) => runCell(cell, each));
});
