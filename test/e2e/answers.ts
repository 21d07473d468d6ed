/** Looks into results without believing them. */
import { isRecord, type JsonRecord } from "../wire/json.ts";
import type { Line } from "./line/line.ts";

export function recordsIn(result: JsonRecord, field: string): readonly JsonRecord[] {
  const list = result[field];
  if (!Array.isArray(list)) throw new Error(`no ${field} in ${JSON.stringify(result)}`);
  return list.filter(isRecord);
}

export function urisIn(result: JsonRecord, field = "resources"): string[] {
  return recordsIn(result, field).map(({ uri }) => String(uri));
}

/** All pages of a list, in order. */
export async function pagesOf(line: Line, method: string, params: JsonRecord = {}): Promise<JsonRecord[]> {
  const pages: JsonRecord[] = [];
  let cursor: unknown;
  do {
    const page = await line.result(method, { ...params, ...(typeof cursor === "string" && { cursor }) });
    pages.push(page);
    cursor = page["nextCursor"];
    if (pages.length > 1000) throw new Error("the list does not end");
  } while (cursor !== undefined);
  return pages;
}

export async function listAll(line: Line): Promise<string[]> {
  return (await pagesOf(line, "resources/list")).flatMap((page) => urisIn(page));
}

/** The one content of a read, as text. */
export async function textAt(line: Line, uri: string): Promise<string> {
  const [content, ...more] = recordsIn(await line.result("resources/read", { uri }), "contents");
  if (!content || more.length > 0) throw new Error(`${uri} has ${more.length + 1} contents`);
  return String(content["text"]);
}

/** What the revision says of a resource that is not there. */
export function missingCode({ revision }: Pick<Line, "revision">): number {
  if (revision === "2026-07-28") return -32602;
  return revision === "2024-10-07" ? -32001 : -32002;
}
