/** Figures of the benchmarks on the repository's own data, and the values that they must not fall below. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownGatherFigures } from "./gather/own-figures.ts";
import { ownRepository } from "./gather/repositories.ts";
import { searchFigures } from "./search/figures.ts";

/** By name; higher is better. */
export type Figures = Readonly<Record<string, number>>;

const file = join(import.meta.dirname, "kept-figures.json");
/** A figure may fall by so much. */
const tolerance = 0.01;

/** Deterministic: depends on the code, and on files and past commits of the repository only. Those of gather need its history. */
export async function measureFigures(): Promise<Figures> {
  return { ...searchFigures(), ...(await ownGatherFigures()) };
}

/** Those that can be measured in this clone. */
export function readKept(): Figures {
  const kept = JSON.parse(readFileSync(file, "utf8")) as Figures;
  if (ownRepository() !== undefined) return kept;
  console.warn("this clone does not have the history that the figures of gather are measured on");
  return Object.fromEntries(Object.entries(kept).filter(([name]) => !name.startsWith("gather,")));
}

export function keep(figures: Figures): void {
  const rounded = Object.entries(figures).map(([name, value]) => [name, Number(value.toFixed(4))]);
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(rounded), undefined, 2)}\n`);
}

/** One line for each figure that fell, is missing or is not kept. */
export function compareFigures(kept: Figures, measured: Figures): string[] {
  const names = new Set([...Object.keys(kept), ...Object.keys(measured)]);
  return [...names].flatMap((name) => {
    const [before, now] = [kept[name], measured[name]];
    if (before === undefined) return `${name}: not kept; now ${now!.toFixed(4)}`;
    if (now === undefined) return `${name}: ${before.toFixed(4)} is kept, and nothing was measured`;
    return now < before - tolerance ? `${name}: fell from ${before.toFixed(4)} to ${now.toFixed(4)}` : [];
  });
}
