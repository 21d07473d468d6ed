/** Full-text search by Drive itself, for words that our index does not hold yet. */
import { invalid } from "../../errors.ts";
import type { DriveFile } from "./drive-objects.ts";
import type { DriveApi } from "./drive-api.ts";

interface DriveSearch {
  readonly files: readonly DriveFile[];
  /** Whether Drive searched everything. */
  readonly isComplete: boolean;
}

const limit = 50;
const maxLength = 1000;

/** Searches everything with one request; if that is too much for Drive, one drive after the other. */
export async function searchDrive(
  text: string,
  { api, logs }: { readonly api: DriveApi; readonly logs: readonly string[] },
  signal: AbortSignal,
): Promise<DriveSearch> {
  if (text.trim() === "" || text.length > maxLength)
    throw invalid(`"q" takes the words to search for, at most ${maxLength} characters`);
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

/** In a quoted string, only quote and backslash are special. */
function formatText(text: string): string {
  return `'${text.replaceAll(/[\\']/g, "\\$&").replaceAll(/\p{Cc}+/gu, " ")}'`;
}
