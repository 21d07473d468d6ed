/** A table of any length, sortable by its columns: rows far outside the view are replaced by space of the same height. */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { PickerTexts } from "../texts.ts";
import { isNumber } from "./series.ts";
import type { ColumnSort } from "./sort-rows.ts";
import { type BlockList, useBlocks } from "./use-blocks.ts";
import { useRowOrder } from "./use-row-order.ts";

interface TableProps {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly label: string;
  readonly texts: PickerTexts;
  /** False if more rows can be read. */
  readonly isWhole: boolean;
}

const rowsAtOnce = 50;
const rowHeightPx = 29;
const maxColumns = 100;
/** Longer cells are cut. */
const maxCell = 1000;

export function DataTable({ head, rows, label, texts, isWhole }: TableProps) {
  const [sort, setSort] = useState<ColumnSort>();
  const { order, isSorting } = useRowOrder(rows, sort);
  const columns = useMemo(() => columnsOf(head, rows), [head, rows]);
  const { element, blocks } = useBlocks(Math.ceil(rows.length / rowsAtOnce), rowsAtOnce * rowHeightPx);
  const [above, below] = blocks.room;
  const width = columns.reduce((sum, column) => sum + column.width, 6);
  const hidden = Math.max(0, widest(head, rows) - columns.length);
  return (
    <>
      <p class="quiet">
        {texts.shown.rows(rows.length)}
        {hidden > 0 && ` ${texts.shown.moreColumns(hidden)}`}{" "}
        <span role="status">{isSorting ? texts.previews.sorting : sort && !isWhole && texts.previews.sortedSoFar}</span>
      </p>
      <table
        ref={element}
        class="data"
        aria-label={label}
        aria-rowcount={rows.length + 1}
        aria-busy={isSorting}
        style={{ width: `${width}ch` }}
      >
        <colgroup>
          <col style={{ width: "6ch" }} />
          {columns.map((column, index) => (
            <col key={index} style={{ width: `${column.width}ch` }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col" class="row-number">
              #
            </th>
            {columns.map((column, index) => (
              <th
                key={index}
                scope="col"
                class={column.isNumeric ? "numeric" : ""}
                aria-sort={sort?.column !== index ? "none" : sort.isDescending ? "descending" : "ascending"}
              >
                <button
                  type="button"
                  class="sort"
                  title={texts.previews.sortBy}
                  {...(column.name.trim() === "" && { "aria-label": texts.previews.column(index + 1) })}
                  onClick={() => setSort(nextSort(sort, index))}
                >
                  {column.name}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <Room height={above} />
        {Array.from({ length: Math.max(0, blocks.end - blocks.first) }, (_, nth) => (
          <Rows key={blocks.first + nth} index={blocks.first + nth} {...{ rows, order, columns, blocks }} />
        ))}
        <Room height={below} />
      </table>
    </>
  );
}

/** Ascending, then descending, then as in the source. */
function nextSort(sort: ColumnSort | undefined, column: number): ColumnSort | undefined {
  if (sort?.column !== column) return { column, isDescending: false };
  return sort.isDescending ? undefined : { column, isDescending: true };
}

function Room({ height }: { readonly height: number }) {
  return (
    height > 0 && (
      <tbody aria-hidden="true">
        <tr style={{ height: `${height}px` }}>
          <td class="room" />
        </tr>
      </tbody>
    )
  );
}

interface RowsProps {
  readonly index: number;
  readonly rows: TableProps["rows"];
  readonly order: Uint32Array | undefined;
  readonly columns: readonly Column[];
  readonly blocks: BlockList;
}

function Rows({ index, rows, order, columns, blocks }: RowsProps) {
  const element = useRef<HTMLTableSectionElement>(null);
  useLayoutEffect(() => {
    if (element.current) blocks.measured(index, element.current.offsetHeight);
  });
  const first = index * rowsAtOnce;
  return (
    <tbody ref={element}>
      {Array.from({ length: Math.min(rowsAtOnce, rows.length - first) }, (_, nth) => {
        const place = first + nth;
        const number = order?.[place] ?? place;
        return (
          <tr key={nth} aria-rowindex={place + 2}>
            <th scope="row" class="row-number">
              {number + 1}
            </th>
            {columns.map(({ isNumeric }, column) => (
              <td key={column} class={isNumeric ? "numeric" : ""}>
                {cut(rows[number]?.[column] ?? "")}
              </td>
            ))}
          </tr>
        );
      })}
    </tbody>
  );
}

interface Column {
  readonly name: string;
  /** In widths of a digit. */
  readonly width: number;
  readonly isNumeric: boolean;
}

const looked = 200;

/** As wide as the first rows need, so that columns do not change while scrolling. */
function columnsOf(head: TableProps["head"], rows: TableProps["rows"]): readonly Column[] {
  const first = rows.slice(0, looked);
  return Array.from({ length: Math.min(maxColumns, widest(head, rows)) }, (_, index) => {
    const cells = first.map((row) => row[index] ?? "");
    const filled = cells.filter((cell) => cell !== "");
    // The header is bold, and has room for an arrow.
    const widths = [roughWidth(head[index] ?? "") * 1.2 + 2, ...cells.map(roughWidth)];
    return {
      name: cut(head[index] ?? ""),
      width: Math.min(48, Math.max(5, ...widths)) + 3,
      isNumeric: filled.length > 0 && filled.every(isNumber),
    };
  });
}

function widest(head: TableProps["head"], rows: TableProps["rows"]): number {
  return rows.slice(0, looked).reduce((most, row) => Math.max(most, row.length), head.length);
}

function roughWidth(text: string): number {
  let width = 0;
  for (let at = 0; at < Math.min(text.length, 60); at += 1) width += text.charCodeAt(at) >= 0x1100 ? 2 : 1;
  return width;
}

function cut(text: string): string {
  return text.length > maxCell ? `${text.slice(0, maxCell)}…` : text;
}
