/** Sorts the rows of a table in short steps, so that the page responds meanwhile. */
import { useEffect, useState } from "preact/hooks";
import { type ColumnSort, sortRows } from "./sort-rows.ts";

const stepMs = 10;

interface RowOrder {
  /** Undefined for the order of the source. May lack rows that were read just now. */
  readonly order?: Uint32Array;
  readonly isSorting: boolean;
}

export function useRowOrder(rows: readonly (readonly string[])[], sort: ColumnSort | undefined): RowOrder {
  const [sorted, setSorted] = useState<{
    readonly order: Uint32Array;
    readonly of: typeof rows;
    readonly by: ColumnSort;
  }>();
  useEffect(() => {
    if (!sort) return setSorted(undefined);
    const steps = sortRows(rows, sort);
    let waiting = 0;
    const work = (): void => {
      const end = performance.now() + stepMs;
      for (;;) {
        const { done, value } = steps.next();
        if (done) return setSorted({ order: value, of: rows, by: sort });
        if (performance.now() >= end) break;
      }
      waiting = Number(setTimeout(work, 0));
    };
    work();
    return () => clearTimeout(waiting);
  }, [rows, sort]);
  const isSorting = sort !== undefined && (sorted?.of !== rows || sorted.by !== sort);
  return { isSorting, ...(sort && sorted && sorted.order.length <= rows.length && { order: sorted.order }) };
}
