/** Entry points of the workbench thread; state is kept between calls. */
import { bestCounter, estimate } from "./count-tokens.ts";
import { createWorkbench, type Workbench } from "./workbench.ts";

let bench: Workbench | undefined;

/** Discards the state of an earlier gathering. */
export async function begin(task: string, counter: "estimate" | "best"): Promise<void> {
  bench = createWorkbench(task, counter === "best" ? await bestCounter() : estimate);
}

export const add: Workbench["add"] = (text) => bench!.add(text);
export const rankTexts: Workbench["rankTexts"] = (about) => bench!.rankTexts(about);
export const pack: Workbench["pack"] = (...args) => bench!.pack(...args);

/** Releases the texts. */
export function end(): void {
  bench = undefined;
}

export interface CountedText {
  readonly tokens: number;
  /** False for an estimate. */
  readonly isExact: boolean;
}

/** An exact count of a longer text takes seconds. */
const maxExactLength = 1024 * 1024;

export async function countText(text: string): Promise<CountedText> {
  const counter = text.length > maxExactLength ? estimate : await bestCounter();
  return { tokens: counter.count(text), isExact: counter !== estimate };
}
