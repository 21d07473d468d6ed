/** What came of it, as a person reads it and as a program does. */
import type { Trial } from "./evaluate.ts";
import { type FormName, formNames } from "./forms.ts";

export interface Summary {
  readonly form: FormName;
  readonly trials: number;
  /** Shares, from 0 to 1. */
  readonly right: number;
  readonly rightEnglish: number | null;
  readonly rightJapanese: number | null;
  readonly rightFirst: number;
  readonly answered: number;
  readonly callsPerTask: number;
  readonly failures: number;
}

export function summarize(trials: readonly Trial[]): readonly Summary[] {
  return formNames.flatMap((form) => {
    const own = trials.filter((trial) => trial.form === form);
    if (own.length === 0) return [];
    return [
      {
        form,
        trials: own.length,
        right: share(own, ({ isRight }) => isRight) ?? 0,
        rightEnglish: share(
          own.filter(({ language }) => language === "en"),
          ({ isRight }) => isRight,
        ),
        rightJapanese: share(
          own.filter(({ language }) => language === "ja"),
          ({ isRight }) => isRight,
        ),
        rightFirst: share(own, ({ isFirst }) => isFirst) ?? 0,
        answered: share(own, ({ isAnswered }) => isAnswered) ?? 0,
        callsPerTask: own.reduce((sum, { calls }) => sum + calls.length, 0) / own.length,
        failures: own.filter(({ failure }) => failure !== undefined).length,
      },
    ];
  });
}

function share(trials: readonly Trial[], is: (trial: Trial) => boolean): number | null {
  return trials.length === 0 ? null : trials.filter(is).length / trials.length;
}

const percent = (part: number | null) => (part === null ? "–" : `${(part * 100).toFixed(0)}%`);

export function table(summaries: readonly Summary[]): string {
  const cells = [
    ["form", "tasks", "right read", "English", "Japanese", "right first", "right answer", "calls", "failed"],
    ...summaries.map((each) => [
      each.form,
      String(each.trials),
      percent(each.right),
      percent(each.rightEnglish),
      percent(each.rightJapanese),
      percent(each.rightFirst),
      percent(each.answered),
      each.callsPerTask.toFixed(1),
      String(each.failures),
    ]),
  ];
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  return cells
    .map((row) =>
      row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join("  "),
    )
    .join("\n");
}
