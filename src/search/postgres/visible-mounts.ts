/** How much of each mount a caller may see, and how often a term occurs there. Counted once for callers who see a part of a mount, and remembered. */
import type { SharedSql } from "../../state/database.ts";
import type { Visibility } from "../visibility.ts";
import { intArray } from "./binary.ts";
import { createParameters } from "./document-filter.ts";

export interface VisibleMount {
  readonly id: number;
  readonly name: string;
  /** What is visible of it. */
  readonly documents: number;
  readonly passages: number;
  readonly tokens: number;
}

/** Number of passages with an element, in one mount. */
export interface ElementCount {
  readonly mount: number;
  readonly element: number;
  readonly passages: number;
}

interface MountRow extends VisibleMount {
  /** Number of documents that were put or removed since the mount exists. */
  readonly changes: number;
}

interface CountedMount {
  readonly changes: number;
  readonly upTo: number;
  readonly round: number;
  readonly visible: VisibleMount;
  /** Whether all documents are visible. */
  readonly isWhole: boolean;
  /** By element. */
  readonly counts: Map<number, number>;
}

/** Counts are taken again after this share of a mount has changed. */
const changedShare = 0.01;
const maxCounts = 20_000;

export type VisibleMounts = Awaited<ReturnType<ReturnType<typeof createVisibleMounts>>>;

export function createVisibleMounts() {
  const remembered = new WeakMap<Visibility, Map<number, CountedMount>>();

  return async (sql: SharedSql, rows: readonly MountRow[], visibility: Visibility | undefined) => {
    const counted = visibility ? await countMounts(sql, rows, visibility) : undefined;
    const visible = rows.map((row) => counted?.get(row.id)?.visible ?? row).filter(({ documents }) => documents > 0);
    const partial = new Set(visible.flatMap(({ id }) => (counted?.get(id)?.isWhole === false ? id : [])));
    const seen = new Set(visible.map(({ id }) => id));

    return {
      mounts: visible as readonly VisibleMount[],
      isWhole: partial.size === 0 && seen.size === rows.filter(({ documents }) => documents > 0).length,
      /** The same counts without documents that are not visible. */
      async count(all: readonly ElementCount[]): Promise<readonly ElementCount[]> {
        const inSeen = all.filter(({ mount }) => seen.has(mount));
        if (!visibility || !counted || partial.size === 0) return inSeen;
        const fresh = new Map<string, number>();
        const open = inSeen.filter(
          ({ mount, element }) => partial.has(mount) && !counted.get(mount)!.counts.has(element),
        );
        if (open.length > 0)
          for (const { mount, element, passages } of await countElements(sql, open, visibility)) {
            const { counts } = counted.get(mount)!;
            if (counts.size >= maxCounts) counts.clear();
            counts.set(element, passages);
            fresh.set(`${mount} ${element}`, passages);
          }
        return inSeen.flatMap((one) => {
          if (!partial.has(one.mount)) return one;
          const passages =
            fresh.get(`${one.mount} ${one.element}`) ?? counted.get(one.mount)!.counts.get(one.element) ?? 0;
          return passages === 0 ? [] : { ...one, passages };
        });
      },
    };
  };

  async function countMounts(
    sql: SharedSql,
    rows: readonly MountRow[],
    visibility: Visibility,
  ): Promise<ReadonlyMap<number, CountedMount>> {
    let known = remembered.get(visibility);
    if (!known) remembered.set(visibility, (known = new Map()));
    const { upTo, round } = visibility;
    const isStale = (row: MountRow): boolean => {
      const before = known.get(row.id);
      if (!before || before.round !== round) return true;
      const changed = Math.abs(row.changes - before.changes);
      return changed === 0 ? before.upTo !== upTo : changed > row.documents * changedShare;
    };
    const [old, recent] = [rows.filter(isStale), rows.filter((row) => !isStale(row))];
    const stale = [...old, ...(await findOutdated(sql, recent, visibility, known))];
    if (stale.length > 0) {
      const parameters = createParameters();
      const mounts = parameters.add(intArray(stale.map(({ id }) => id)));
      const found = await sql.query<Omit<VisibleMount, "name">>(
        `select d.mount as id, count(*)::integer as documents, sum(d.passages)::integer as passages, sum(d.tokens) as tokens
         from search_documents d where d.mount = any(${mounts}::integer[]) and ${isVisible("d.id", visibility, parameters)} group by d.mount`,
        parameters.values,
      );
      for (const { id, name, changes, documents } of stale) {
        const own = found.find((one) => one.id === id) ?? { documents: 0, passages: 0, tokens: 0 };
        const visible = { ...own, id, name };
        known.set(id, {
          changes,
          upTo,
          round,
          visible,
          isWhole: own.documents === documents,
          counts: new Map(),
        });
      }
    }
    // A copy: another search of the same callers may see another state of the index.
    return new Map(known);
  }
}

/**
 * Counts may be somewhat old, but a mount of which everything or nothing was visible must still be so: else its hidden documents are found, or its
 * visible ones are not. Returns those of which that is no longer true. Only documents that were added since can differ.
 */
async function findOutdated(
  sql: SharedSql,
  rows: readonly MountRow[],
  visibility: Visibility,
  known: Map<number, CountedMount>,
): Promise<readonly MountRow[]> {
  const changed = rows.flatMap((row) => {
    const before = known.get(row.id)!;
    const isAllOrNothing = before.isWhole || before.visible.documents === 0;
    return isAllOrNothing && before.changes !== row.changes ? { row, before } : [];
  });
  if (changed.length === 0) return [];
  const parameters = createParameters();
  const mounts = parameters.add(intArray(changed.map(({ row }) => row.id)));
  const after = parameters.add(Math.min(...changed.map(({ before }) => before.upTo)));
  const shown = isVisible("d.id", visibility, parameters);
  const found = await sql.query<{ mount: number; shown: boolean; hidden: boolean }>(
    `select d.mount, bool_or(${shown}) as shown, bool_or(not (${shown})) as hidden
     from search_documents d where d.id > ${after}::integer and d.mount = any(${mounts}::integer[]) group by d.mount`,
    parameters.values,
  );
  return changed.flatMap(({ row, before }) => {
    const added = found.find(({ mount }) => mount === row.id);
    // Counted by a search that saw a later state.
    const isEarlier = row.changes < before.changes;
    if (isEarlier || (before.isWhole ? added?.hidden : added?.shown)) return row;
    const { changes, ...visible } = row;
    known.set(row.id, { ...before, changes, upTo: visibility.upTo, ...(before.isWhole && { visible }) });
    return [];
  });
}

async function countElements(
  sql: SharedSql,
  all: readonly ElementCount[],
  visibility: Visibility,
): Promise<readonly ElementCount[]> {
  const parameters = createParameters();
  const mounts = parameters.add(intArray(all.map(({ mount }) => mount)));
  const elements = parameters.add(intArray(all.map(({ element }) => element)));
  return sql.query<ElementCount>(
    `select e.mount, e.element, (
       select count(*)::integer from search_passages p
       where p.mount = e.mount and p.elements @> array[e.element] and ${isVisible("p.document", visibility, parameters)}) as passages
     from unnest(${mounts}::integer[], ${elements}::integer[]) as e (mount, element)`,
    parameters.values,
  );
}

function isVisible(column: string, { bits }: Visibility, parameters: ReturnType<typeof createParameters>): string {
  const { bytes } = bits;
  return `case when ${column} < ${bytes.length * 8} then get_bit(${parameters.add(bytes)}::bytea, ${column}) = 1 else false end`;
}
