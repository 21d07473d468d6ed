/** A short table, drawn as a whole. */
import type { ComponentChild } from "preact";

interface PlainTableProps {
  readonly head: readonly ComponentChild[];
  readonly rows: readonly (readonly ComponentChild[])[];
  readonly label?: string;
  /** Whether the first cell of each row names the row. */
  readonly hasRowHeads?: boolean;
  /** Of the cells in each column. */
  readonly cellClasses?: readonly (string | undefined)[];
  /** Line of the source at which the rows begin, each on one line. */
  readonly firstLine?: number;
}

export function PlainTable({ head, rows, label, hasRowHeads = false, cellClasses = [], firstLine }: PlainTableProps) {
  return (
    <table aria-label={label}>
      <thead>
        <tr>
          {head.map((name, index) =>
            name === "" ? (
              <td />
            ) : (
              <th scope="col" class={cellClasses[index]}>
                {name}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, number) => (
          <tr key={number} {...(firstLine !== undefined && { "data-line": firstLine + number })}>
            {row.map((cell, index) =>
              hasRowHeads && index === 0 ? <th scope="row">{cell}</th> : <td class={cellClasses[index]}>{cell}</td>,
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
