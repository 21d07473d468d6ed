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
  /** Changes when an id may belong to another term. */
  readonly terms_freed: number;
}

interface CountedMount {
  readonly termsFreed: number;
  readonly changes: number;
  readonly upTo: number;
  readonly round: number;
  readonly visible: VisibleMount;
  /** Whether all documents are visible. */
  readonly isWhole: boolean;
  /** By element; never 0. */
  readonly counts: Map<number, number>;
  /** Elements without visible passages, each with the state of the mount and of the decisions in which that was so. */
  readonly absent: Map<number, string>;
}

/** Counts are taken again after this share of a mount has changed. */
const changedShare = 0.01;
const maxCounts = 20_000;

export type VisibleMounts = Awaited<ReturnType<ReturnType<typeof createVisibleMounts>>>;

export function createVisibleMounts() {
  const remembered = new WeakMap<Visibility, Map<number, CountedMount>>();

  return async (sql: SharedSql, rows: readonly MountRow[], visibility: Visibility | undefined) => {
    const upTo = visibility?.upTo;
    const counted = visibility ? await countMounts(sql, rows, visibility) : undefined;
    const visible = rows.map((row) => counted?.get(row.id)?.visible ?? row).filter(({ documents }) => documents > 0);
    const partial = new Set(visible.flatMap(({ id }) => (counted?.get(id)?.isWhole === false ? id : [])));
    const seen = new Set(visible.map(({ id }) => id));
    const stateOf = new Map(rows.map(({ id, changes }) => [id, `${changes} ${upTo}`]));

    /** Undefined if it must be counted. A term that occurs nowhere is not found: what was added since may have it. */
    function knownCount({ mount, element }: ElementCount): number | undefined {
      const { counts, absent } = counted!.get(mount)!;
      return absent.get(element) === stateOf.get(mount) ? 0 : counts.get(element);
    }

    function remember({ mount, element, passages }: ElementCount): void {
      const { counts, absent } = counted!.get(mount)!;
      if (counts.size + absent.size >= maxCounts) {
        counts.clear();
        absent.clear();
      }
      if (passages > 0) counts.set(element, passages);
      else absent.set(element, stateOf.get(mount)!);
    }

    return {
      mounts: visible as readonly VisibleMount[],
      isWhole: partial.size === 0 && seen.size === rows.filter(({ documents }) => documents > 0).length,
      /** The same counts without documents that are not visible. */
      async count(all: readonly ElementCount[]): Promise<readonly ElementCount[]> {
        const inSeen = all.filter(({ mount }) => seen.has(mount));
        if (!visibility || !counted || partial.size === 0) return inSeen;
        // Before the wait: this search or another may make room for other counts meanwhile.
        const known = inSeen.map((one) => (partial.has(one.mount) ? knownCount(one) : one.passages));
        const open = inSeen.filter((_, at) => known[at] === undefined);
        const fresh = new Map<string, number>();
        if (open.length > 0)
          for (const one of await countElements(sql, open, visibility)) {
            remember(one);
            fresh.set(`${one.mount} ${one.element}`, one.passages);
          }
        return inSeen.flatMap((one, at) => {
          const passages = known[at] ?? fresh.get(`${one.mount} ${one.element}`) ?? 0;
          return passages === 0 ? [] : { ...one, passages };
        });
      },
    };
  };

  /**
   * Searches of the same callers that run at the same time may see different states of the index, so the result has only what was judged for the
   * state of this search.
   */
  async function countMounts(
    sql: SharedSql,
    rows: readonly MountRow[],
    visibility: Visibility,
  ): Promise<ReadonlyMap<number, CountedMount>> {
    let known = remembered.get(visibility);
    if (!known) remembered.set(visibility, (known = new Map()));
    const { upTo, round } = visibility;
    const isStale = (row: MountRow, before: CountedMount): boolean => {
      if (before.round !== round || before.termsFreed !== row.terms_freed) return true;
      const changed = Math.abs(row.changes - before.changes);
      return changed === 0 ? before.upTo !== upTo : changed > row.documents * changedShare;
    };
    const recent = rows.flatMap((row): JudgedMount[] => {
      const before = known.get(row.id);
      return before && !isStale(row, before) ? [{ row, before }] : [];
    });
    const counted = new Map(await confirm(sql, recent, visibility));
    const stale = rows.filter(({ id }) => !counted.has(id));
    if (stale.length > 0) {
      const parameters = createParameters();
      const mounts = parameters.add(intArray(stale.map(({ id }) => id)));
      const found = await sql.query<Omit<VisibleMount, "name">>(
        `select d.mount as id, count(*)::integer as documents, sum(d.passages)::integer as passages, sum(d.tokens) as tokens
         from search_documents d where d.mount = any(${mounts}::integer[]) and ${isVisible("d.id", visibility, parameters)} group by d.mount`,
        parameters.values,
      );
      for (const { id, name, changes, terms_freed: termsFreed, documents } of stale) {
        const own = found.find((one) => one.id === id) ?? { documents: 0, passages: 0, tokens: 0 };
        const visible = { ...own, id, name };
        counted.set(id, {
          termsFreed,
          changes,
          upTo,
          round,
          visible,
          isWhole: own.documents === documents,
          counts: new Map(),
          absent: new Map(),
        });
      }
    }
    for (const [id, one] of counted) known.set(id, one);
    return counted;
  }
}

interface JudgedMount {
  readonly row: MountRow;
  readonly before: CountedMount;
}

/**
 * Counts may be somewhat old, but a mount of which everything or nothing was visible must still be so: else its hidden documents are found, or its
 * visible ones are not. Returns those of which that is still true. Only documents that were added since can differ.
 */
async function confirm(
  sql: SharedSql,
  judged: readonly JudgedMount[],
  visibility: Visibility,
): Promise<readonly (readonly [id: number, CountedMount])[]> {
  const mustBeAsked = ({ row, before }: JudgedMount): boolean =>
    (before.isWhole || before.visible.documents === 0) && before.changes !== row.changes;
  const asked = judged.filter(mustBeAsked);
  const others = judged.filter((one) => !mustBeAsked(one)).map(({ row, before }) => [row.id, before] as const);
  if (asked.length === 0) return others;
  // Before the wait: what is decided meanwhile was not asked about.
  const { upTo } = visibility;
  const parameters = createParameters();
  const mounts = parameters.add(intArray(asked.map(({ row }) => row.id)));
  const after = parameters.add(Math.min(...asked.map(({ before }) => before.upTo)));
  const shown = isVisible("d.id", visibility, parameters);
  const found = await sql.query<{ mount: number; shown: boolean; hidden: boolean }>(
    `select d.mount, bool_or(${shown}) as shown, bool_or(not (${shown})) as hidden
     from search_documents d where d.id > ${after}::integer and d.mount = any(${mounts}::integer[]) group by d.mount`,
    parameters.values,
  );
  const confirmed = asked.flatMap(({ row, before }): (readonly [number, CountedMount])[] => {
    const added = found.find(({ mount }) => mount === row.id);
    // Counted by a search that saw a later state.
    const isEarlier = row.changes < before.changes;
    if (isEarlier || (before.isWhole ? added?.hidden : added?.shown)) return [];
    const { changes, terms_freed: _, ...visible } = row;
    return [[row.id, { ...before, changes, upTo, ...(before.isWhole && { visible }) }]];
  });
  return [...others, ...confirmed];
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
