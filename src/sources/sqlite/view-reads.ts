/** Which tables a view in a database file reads, and whether it may be served. */
import type { AllowList, TableRef } from "../../backends/sql/allow-list.ts";
import { isRepresentable } from "../../backends/sql/segments.ts";

/** A table, view or virtual table in the schema of the file. */
export interface SchemaItem {
  readonly name: string;
  /** The statement that created it. */
  readonly sql: string;
  /** Whether it shows data of other tables: a view does, a virtual table may. */
  readonly isDerived: boolean;
  /** For a table in which a virtual table stores its data: the name of that one. */
  readonly shadowOf?: string;
}

/** SQLite's own tables contain the names of all tables. */
const system = /^(?:sqlite_|pragma_|dbstat$)/;
const wordPattern = /[\p{L}\p{N}\p{M}_$]+/gu;

/**
 * All that it may read, in lower case. SQLite does not report what a view reads, so every name in its text counts (table, column or
 * comment), and whatever those read.
 */
function readsOf(item: SchemaItem, items: ReadonlyMap<string, SchemaItem>, odd: readonly SchemaItem[]): Set<string> {
  const found = new Set<string>();
  const ahead = [item];
  for (let each = ahead.pop(); each !== undefined; each = ahead.pop()) {
    const text = each.sql.toLowerCase();
    const words = new Set(text.match(wordPattern));
    // A name with other characters is written unchanged, or with doubled quotation marks.
    for (const { name } of odd) if (forms(name).some((written) => text.includes(written))) words.add(lower(name));
    for (const word of words) {
      const named = items.get(word);
      if (found.has(word) || (!named && !system.test(word)) || word === lower(item.name)) continue;
      found.add(word);
      const owner = named?.shadowOf === undefined ? undefined : items.get(lower(named.shadowOf));
      if (owner) found.add(lower(owner.name));
      for (const next of [named, owner]) if (next?.isDerived) ahead.push(next);
    }
  }
  return found;
}

export interface Shown {
  /** Whether it is served. */
  isShown(name: string): boolean;
  /** Views and virtual tables excluded because of what they read, though their names are allowed. */
  leftOut(): readonly string[];
}

/** A view that the config names without a wildcard is always served. */
export function createShown(all: readonly SchemaItem[], allow: AllowList): Shown {
  const items = new Map(all.map((item) => [lower(item.name), item]));
  const odd = all.filter(({ name }) => lower(name).match(wordPattern)?.[0] !== lower(name));

  function isDerivedFromLeftOut(item: SchemaItem): boolean {
    if (!allow.restricts.tables || !item.isDerived || allow.names(refOf(item.name))) return false;
    for (const read of readsOf(item, items, odd)) {
      const named = items.get(read);
      if (!named || allow.leavesOut(refOf(named.name))) return true;
    }
    return false;
  }

  return {
    isShown(name) {
      const item = items.get(lower(name));
      if (item?.name !== name || !isRepresentable(name) || !allow.table(refOf(name))) return false;
      return !isDerivedFromLeftOut(item);
    },
    leftOut: () =>
      all.flatMap((item) => (allow.table(refOf(item.name)) && isDerivedFromLeftOut(item) ? [item.name] : [])),
  };
}

function refOf(table: string): TableRef {
  return { schema: "main", table };
}

function forms(name: string): readonly string[] {
  const written = lower(name);
  return [written, ...['"', "'", "`"].map((mark) => written.replaceAll(mark, mark + mark))];
}

function lower(name: string): string {
  return name.toLowerCase();
}
