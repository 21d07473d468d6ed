/** Which documents a query may find, by its filters and by what the caller may see: a condition inside every statement. */
import { fromKey, keysBelow, toKey } from "../address-key.ts";
import { conditionOf } from "../filters.ts";
import { isGlob } from "../../lib/glob.ts";
import type { ParsedQuery } from "../query.ts";
import type { SharedSql, SqlParameter } from "../../state/database.ts";
import type { StoreQuery } from "../store.ts";
import { intArray, readInts } from "./binary.ts";
import { storable, foldedPath, headBytes } from "./stored-forms.ts";
import type { VisibleBits } from "../visibility.ts";

/** Fewer documents are listed by id: their passages are found without the index of elements. */
const fewDocuments = 4096;
const rowsAtOnce = 20_000;

/** Values of a statement. */
export function createParameters() {
  const values: SqlParameter[] = [];
  return {
    values,
    /** Returns the name of the value in the statement. */
    add(value: SqlParameter): string {
      values.push(value);
      return `$${values.length}`;
    },
  };
}

export type SqlParameters = ReturnType<typeof createParameters>;

export interface DocumentFilter {
  /** Ids of all documents that pass, if they are few. */
  readonly few?: readonly number[];
  /** True if every document passes. */
  readonly isOpen: boolean;
  /** The condition for a column with the id of a document; "true" if every document passes. */
  condition(column: string, parameters: SqlParameters): string;
}

/** `mounts` are the ids of the mounts that are searched. */
export async function openDocumentFilter(
  sql: SharedSql,
  query: Pick<ParsedQuery, "filters" | "after" | "priority">,
  { within }: Pick<StoreQuery, "within">,
  mounts: readonly number[],
  visible: VisibleBits | undefined,
): Promise<DocumentFilter> {
  // Throws for a pattern that is not valid.
  const { keeps } = conditionOf(query, {});
  const ofDocuments = (parameters: SqlParameters): string[] => {
    const { after, priority, filters } = query;
    const parts: string[] = [];
    if (within !== undefined && within !== "") {
      const [from, to] = keysBelow(within);
      const key = toKey(within);
      const [isIt, low, high] = [key, from, to].map((value) => parameters.add(value));
      const [lowHead, highHead] = [key, to].map((value) => parameters.add(value.slice(0, headBytes)));
      parts.push(
        `(d.key = ${isIt} or (d.key >= ${low} and d.key < ${high})) and d.head >= ${lowHead} and d.head <= ${highHead}`,
      );
    }
    if (after !== undefined) parts.push(`d.modified >= ${parameters.add(after)}::double precision`);
    if (priority !== undefined) parts.push(`d.priority >= ${parameters.add(priority)}::double precision`);
    for (const isNot of [false, true]) {
      const languages = filters.filter((filter) => filter.name === "lang" && filter.isNot === isNot);
      if (languages.length > 0)
        parts.push(
          `${isNot ? "not " : ""}d.lang = any(${parameters.add(languages.map(({ value }) => storable(value.toLowerCase())))}::text[])`,
        );
    }
    return parts;
  };
  const isVisible = (column: string, parameters: SqlParameters): string =>
    visible ? hasBit(column, visible.bytes, parameters) : "true";
  const isByPath = query.filters.some(({ name }) => name === "path" || name === "mime");
  const hasCondition = ofDocuments(createParameters()).length > 0;
  if (!hasCondition && !isByPath) {
    if (visible && visible.count() < fewDocuments) return listed(visible.ids());
    return { isOpen: visible === undefined, condition: isVisible };
  }
  const passing = isByPath ? await findByPath() : await findFew();
  if (passing.length < fewDocuments) return listed(passing);
  if (!isByPath)
    return {
      isOpen: false,
      condition: (column, parameters) =>
        `${isVisible(column, parameters)} and exists (select from search_documents d where d.id = ${column} and ${ofDocuments(parameters).join(" and ")})`,
    };
  const bytes = toBits(passing);
  return { isOpen: false, condition: (column, parameters) => hasBit(column, bytes, parameters) };

  async function findFew(): Promise<readonly number[]> {
    const parameters = createParameters();
    const where = [
      `d.mount = any(${parameters.add(intArray(mounts))}::integer[])`,
      ...ofDocuments(parameters),
      isVisible("d.id", parameters),
    ];
    const [row] = await sql.query<{ ids: Uint8Array | null }>(
      `select string_agg(int4send(id), '') as ids from (select d.id from search_documents d where ${where.join(" and ")} limit ${fewDocuments}) d`,
      parameters.values,
    );
    return row?.ids ? [...readInts(row.ids)] : [];
  }

  async function findByPath(): Promise<readonly number[]> {
    const ids: number[] = [];
    for (let last = 0; ;) {
      const parameters = createParameters();
      const where = [
        `d.mount = any(${parameters.add(intArray(mounts))}::integer[])`,
        `d.id > ${parameters.add(last)}::integer`,
        ...ofDocuments(parameters),
        ...piecesOf(query).map((piece) => `position(${parameters.add(piece)} in d.path) > 0`),
        isVisible("d.id", parameters),
      ];
      const rows = await sql.query<{ id: number; key: Uint8Array; mime: string }>(
        `select d.id, d.key, d.mime from search_documents d where ${where.join(" and ")} order by d.id limit ${rowsAtOnce}`,
        parameters.values,
      );
      for (const { id, key, mime } of rows) if (keeps(fromKey(key), mime)) ids.push(id);
      if (rows.length < rowsAtOnce) return ids;
      last = rows.at(-1)!.id;
    }
  }
}

/** Texts that every wanted path contains. */
function piecesOf({ filters }: Pick<ParsedQuery, "filters">): readonly string[] {
  const wanted = filters.filter(({ name, isNot }) => name === "path" && !isNot);
  if (wanted.length !== 1) return [];
  const path = foldedPath(wanted[0]!.value.replace(/^\//, ""));
  if (!isGlob(path)) return [storable(path)];
  if (/[[\]{},\\]/.test(path)) return [];
  // "**/" may stand for nothing.
  return path
    .replaceAll("**/", "*")
    .split(/[*?]+/)
    .map(storable)
    .filter((piece) => piece !== "" && piece !== "/");
}

function listed(few: readonly number[]): DocumentFilter {
  return {
    few,
    isOpen: false,
    condition: (column, parameters) => `${column} = any(${parameters.add(intArray(few))}::integer[])`,
  };
}

function hasBit(column: string, bytes: Uint8Array, parameters: SqlParameters): string {
  return `case when ${column} < ${bytes.length * 8} then get_bit(${parameters.add(bytes)}::bytea, ${column}) = 1 else false end`;
}

function toBits(ids: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(((ids.at(-1) ?? 0) >>> 3) + 1);
  for (const id of ids) bytes[id >>> 3]! |= 1 << (id & 7);
  return bytes;
}
