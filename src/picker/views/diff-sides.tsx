/** A diff with the lines before and after it side by side. */
import type { ComponentChild } from "preact";
import type { PickerTexts } from "../texts.ts";
import { type DiffLine, diffPairs } from "./diff.ts";

interface DiffSidesProps {
  readonly lines: readonly DiffLine[];
  /** Path of the file. */
  readonly name: string;
  readonly texts: PickerTexts;
}

export function DiffSides({ lines, name, texts }: DiffSidesProps) {
  return (
    <table class="diff-sides" {...(name !== "" && { "aria-label": name })}>
      <colgroup>
        <col class="diff-side-number" />
        <col />
        <col class="diff-side-number" />
        <col />
      </colgroup>
      <thead class="unseen">
        <tr>
          <th scope="col" colSpan={2}>
            {texts.previews.before}
          </th>
          <th scope="col" colSpan={2}>
            {texts.previews.after}
          </th>
        </tr>
      </thead>
      <tbody>
        {diffPairs(lines).map(([before, after], index) => (
          <tr key={index}>
            {before?.kind === "hunk" || before?.kind === "note" ? (
              <td colSpan={4} class={`diff-${before.kind}`}>
                {before.text}
              </td>
            ) : (
              <>
                {sideView(before, before?.before)}
                {sideView(after, after?.after)}
              </>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function sideView(line: DiffLine | undefined, number: number | undefined): ComponentChild {
  const kind = line?.kind ?? "absent";
  return (
    <>
      <td class={`diff-number diff-side-${kind}`} data-line={number ?? ""} />
      <td class={`diff-side-${kind}`}>
        {line?.kind === "removed" && (
          <del>
            <span class="diff-sign">− </span>
            {line.text}
          </del>
        )}
        {line?.kind === "added" && (
          <ins>
            <span class="diff-sign">+ </span>
            {line.text}
          </ins>
        )}
        {line?.kind === "same" && `  ${line.text}`}
      </td>
    </>
  );
}
