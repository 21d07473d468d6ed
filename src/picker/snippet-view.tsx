/** The excerpt of a search result with its matches: source text in a monospace font, with line numbers if they are known. */
import type { ComponentChild } from "preact";
import { isDocument } from "../lib/passage-uri.ts";
import type { Hit } from "../resources.ts";
import { bareType, viewFor } from "./views/choose-view.ts";

type Marks = NonNullable<Hit["marks"]>;

export function SnippetView({ hit }: { readonly hit: Hit }) {
  const { resource, snippet = "", marks = [] } = hit;
  const start = startOf(snippet, marks);
  const first = firstLine(hit);
  const skipped = snippet.slice(0, start).split("\n").length - 1;
  let at = start;
  const view = viewFor(bareType(resource.mimeType), snippet, true);
  const isSource = view !== undefined && view !== "markdown" && !isDocument(resource);
  return (
    <div class={isSource ? "snippet source" : "snippet"}>
      {snippet
        .slice(start)
        .split(/(?<=\n)/)
        .map((line, index) => {
          const from = at;
          at += line.length;
          const number = isSource && first !== undefined ? first + skipped + index : undefined;
          return (
            <span key={index} class="snippet-line" data-number={number}>
              {marked(snippet, from, at, marks)}
            </span>
          );
        })}
    </div>
  );
}

/** The line before the first match, because few lines are shown; the line itself if that one is empty. */
function startOf(text: string, marks: Marks): number {
  const [first] = marks;
  if (!first) return 0;
  const line = text.lastIndexOf("\n", first[0] - 1) + 1;
  const before = line === 0 ? 0 : text.lastIndexOf("\n", line - 2) + 1;
  return text.slice(before, line).trim() === "" ? line : before;
}

/** The number of the first line of the snippet. Undefined if the snippet is only a part of the found lines. */
export function firstLine({ lines, snippet = "", offset }: Hit): number | undefined {
  if (offset === 0) return 1;
  const count = snippet.replace(/\n$/, "").split("\n").length;
  return lines && count === lines[1] - lines[0] + 1 ? lines[0] : undefined;
}

function marked(text: string, start: number, end: number, marks: Marks): ComponentChild[] {
  const pieces: ComponentChild[] = [];
  let at = start;
  for (const [from, to] of marks) {
    if (to <= at || from >= end) continue;
    pieces.push(text.slice(at, Math.max(at, from)));
    const until = Math.min(to, end);
    pieces.push(<mark key={from}>{text.slice(Math.max(at, from), until)}</mark>);
    at = until;
  }
  return [...pieces, text.slice(at, end)];
}
