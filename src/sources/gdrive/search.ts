/** What Drive itself finds by the words in its files: for words that no index of ours has seen yet. */
import { invalid } from "../../errors.ts";
import type { DriveFile } from "./drive-objects.ts";
import type { DriveApi } from "./drive-api.ts";

export interface DriveSearch {
  readonly files: readonly DriveFile[];
  /** Whether Drive has looked everywhere. */
  readonly isComplete: boolean;
}

const limit = 50;
const maxLength = 1000;

/** Everywhere at once; where that is too much for Drive, in one place after the other. */
export async function searchDrive(
  text: string,
  { api, logs }: { readonly api: DriveApi; readonly logs: readonly string[] },
  signal: AbortSignal,
): Promise<DriveSearch> {
  if (text.trim() === "" || text.length > maxLength)
    throw invalid(`"q" takes the words to look for, at most ${maxLength} characters of them`);
  const q = `trashed = false and fullText contains ${formatText(text)}`;
  const [only, ...others] = logs;
  const whole = await api.files({ log: others.length === 0 ? (only ?? "") : "all", q, limit }, signal);
  if (!whole.isIncomplete) return { files: whole.files, isComplete: true };
  const found = new Map<string, DriveFile>();
  let isComplete = true;
  for (const log of logs) {
    const page = await api.files({ log, q, limit }, signal);
    for (const file of page.files) found.set(file.id, file);
    if (page.isIncomplete) isComplete = false;
  }
  return { files: [...found.values()], isComplete };
}

/** Within quotes only a quote and a backslash mean anything. */
export function formatText(text: string): string {
  return `'${text.replaceAll(/[\\']/g, "\\$&").replaceAll(/\p{Cc}+/gu, " ")}'`;
}
