/**
 * 2024-11-05 has no schema of its own in the official suite. It is 2025-03-26 without what came later; each removal says what
 * brought it (https://modelcontextprotocol.io/specification/2025-03-26/changelog).
 */
import { isRecord, type Json, type JsonRecord } from "../json.ts";

interface Removal {
  readonly reason: string;
  /** Where it stands below `definitions`. */
  readonly path: readonly string[];
}

export const removals: readonly Removal[] = [
  {
    reason: "the completions capability came with 2025-03-26; before, completion is called without being declared",
    path: ["ServerCapabilities", "properties", "completions"],
  },
  { reason: "audio content came with 2025-03-26", path: ["AudioContent"] },
  { reason: "annotations of tools came with 2025-03-26", path: ["ToolAnnotations"] },
  { reason: "annotations of tools came with 2025-03-26", path: ["Tool", "properties", "annotations"] },
  {
    reason: "the message of a progress notification came with 2025-03-26",
    path: ["ProgressNotification", "properties", "params", "properties", "message"],
  },
  { reason: "batches are a word of 2025-03-26 alone", path: ["JSONRPCBatchRequest"] },
  { reason: "batches are a word of 2025-03-26 alone", path: ["JSONRPCBatchResponse"] },
];

export function schemaOf20241105(later: JsonRecord): JsonRecord {
  const definitions = later["definitions"];
  if (!isRecord(definitions)) throw new Error("the schema of 2025-03-26 has no definitions");
  const without = removals.reduce((rest, { path }) => withoutPath(rest, path), definitions);
  const gone = new Set(removals.filter(({ path }) => path.length === 1).map(({ path }) => `#/definitions/${path[0]}`));
  return { ...later, definitions: withoutReferences(without, gone) };
}

function withoutPath(record: JsonRecord, [head = "", ...rest]: readonly string[]): JsonRecord {
  const inner = record[head];
  if (inner === undefined) throw new Error(`2025-03-26 has no ${JSON.stringify(head)} to take away`);
  const { [head]: _removed, ...others } = record;
  if (rest.length === 0) return others;
  if (!isRecord(inner)) throw new Error(`${JSON.stringify(head)} has no members`);
  return { ...others, [head]: withoutPath(inner, rest) };
}

/** Choices (`anyOf`) lose the members that refer to what is gone. */
function withoutReferences<T extends Json>(value: T, gone: ReadonlySet<string>): T;
function withoutReferences(value: Json, gone: ReadonlySet<string>): Json {
  if (Array.isArray(value))
    return value
      .filter((item: Json) => !(isRecord(item) && gone.has(String(item["$ref"]))))
      .map((item: Json) => withoutReferences(item, gone));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutReferences(inner, gone)]));
}
