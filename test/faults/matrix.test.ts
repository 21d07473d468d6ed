/**
 * Some cells of the fault matrix: each fault with two parts, in turn. All of them, with several seeds: `npm run test:long -- faults`.
 * To try others, or the same again: `FAULTS_SEED=… npx vitest run test/faults/matrix.test.ts`.
 */
import { expect, describe, it } from "vitest";
import { cells, parts, reportMissing, runnable, type TableCell } from "./matrix/cells.ts";
import { faults } from "./matrix/faults.ts";
import { runCell } from "./matrix/run-cell.ts";

const seed = Number(process.env["FAULTS_SEED"] ?? 1);
const missing = reportMissing();
if (missing !== "") console.log(missing);

/** The parts take turns, beginning with another one for each seed. A pause of another process is left to the long run: questions wait for it. */
function choose(first: number): readonly TableCell[] {
  return faults.flatMap((fault, at) => {
    const order = parts.map((_, step) => parts[(first + at + step) % parts.length]!);
    const fits = order.filter((part) => fault.name !== "pause" || !part.isSlowToPause);
    const found = fits.map((part) => runnable.find((cell) => cell.part === part && cell.fault === fault));
    return found.find((cell) => cell !== undefined) ?? [];
  });
}

const chosen = new Set([...choose(seed), ...choose(seed + 4)]);

describe(`the fault matrix, with the seed ${seed}`, () => {
  it("has every fault for every part, or says why not", () => {
    expect(cells).toHaveLength(parts.length * faults.length);
    for (const { name, notApplicable } of cells)
      if (notApplicable !== undefined) expect(notApplicable, name).not.toBe("");
    expect(new Set(cells.filter((cell) => cell.notApplicable === undefined).map(({ part }) => part.name)).size).toBe(
      parts.length,
    );
  });

  it.each([...chosen])("$name", { timeout: 120_000 }, (cell) => runCell(cell, seed));
});
