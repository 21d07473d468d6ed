/** How a conversation is written down, and how what was said is held against it. */
import { isRecord, type Json, type JsonRecord } from "./json.ts";

/** One step of a conversation. */
export type Step =
  /** A question and its whole answer. */
  | { readonly name: string; readonly ask: JsonRecord; readonly answer: JsonRecord }
  /** A question that goes on, and what is said at once. */
  | { readonly name: string; readonly begin: JsonRecord; readonly hears: readonly JsonRecord[] }
  /** Something happens in the server (null removes), and what is said of it. */
  | {
      readonly name: string;
      readonly change: { readonly path: string; readonly text: string | null };
      readonly hears: readonly JsonRecord[];
    }
  /** The server closes, and says so. */
  | { readonly name: string; readonly close: true; readonly hears: readonly JsonRecord[] };

/** Stands for any text that is not empty; the same cursor comes back in the next question. */
export const cursor = "<cursor>";
/** Stands for a sentence to a person. */
export const sentence = "<sentence>";
export const version = "<version>";

const placeholders = new Set<unknown>([cursor, sentence, version]);

/** What was said, with placeholders where the transcript has them: equal to it if and only if it fits. */
export function fitted(said: Json | undefined, written: Json): Json | undefined {
  if (placeholders.has(written)) return typeof said === "string" && said !== "" ? written : said;
  if (Array.isArray(written) && Array.isArray(said))
    return said.map((item: Json, index) => fitted(item, (written as readonly Json[])[index] ?? null) ?? null);
  if (!isRecord(written) || !isRecord(said)) return said;
  return Object.fromEntries(
    Object.entries(said).map(([key, value]): [string, Json] => [key, fitted(value, written[key] ?? null) ?? null]),
  );
}

/** The cursor that was said where the transcript has one. */
export function cursorIn(message: JsonRecord): string | undefined {
  const { result } = message;
  const next = isRecord(result) ? result["nextCursor"] : undefined;
  return typeof next === "string" ? next : undefined;
}

/** The question with the real cursor in its place. */
export function withCursor(ask: JsonRecord, real: string | undefined): JsonRecord {
  const params = ask["params"];
  if (!isRecord(params) || params["cursor"] !== cursor) return ask;
  if (real === undefined) throw new Error("no cursor came before this question");
  return { ...ask, params: { ...params, cursor: real } };
}
