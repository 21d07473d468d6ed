/** The workbench in a thread: what a call leaves here, the next one finds. */
import { bestCounter, estimate } from "./count-tokens.ts";
import { createWorkbench, type Workbench } from "./workbench.ts";

let bench: Workbench | undefined;

/** Nothing of an earlier gathering is left. */
export async function begin(task: string, counter: "estimate" | "best"): Promise<void> {
  bench = createWorkbench(task, counter === "best" ? await bestCounter() : estimate);
}

export const add: Workbench["add"] = (text) => bench!.add(text);
export const rankTexts: Workbench["rankTexts"] = (about) => bench!.rankTexts(about);
export const pack: Workbench["pack"] = (about, budget, format) => bench!.pack(about, budget, format);

/** What was gathered from is let go. */
export function end(): void {
  bench = undefined;
}
