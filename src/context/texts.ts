/** Prepares the texts of candidates: cleans them, cuts them into passages, and counts the terms of the task. */
import { textFormatOf, isGarbled } from "../search/format.ts";
import { type CutPassage, passagesOf } from "../search/passages.ts";
import { tokenize } from "../search/tokens.ts";
import { exactMatches, type ExactMatch } from "./exact-matches.ts";
import { fileKindOf, type FileKind } from "./file-kind.ts";
import type { Task } from "./read-task.ts";

/** A passage, and how often each term of the task occurs in it. */
export interface CountedPassage extends CutPassage {
  readonly times: ReadonlyMap<string, number>;
  /** Positions of the terms in the text, in order. */
  readonly places: readonly { readonly term: string; readonly at: number }[];
  readonly headingTerms: ReadonlySet<string>;
  /** True if the rest of its line is in other passages. */
  readonly isPartOfLine: boolean;
  /** Length in words. */
  readonly length: number;
}

export interface Text {
  readonly text: string;
  /** The last segment of its path. */
  readonly name: string;
  readonly kind: FileKind;
  readonly counted: readonly CountedPassage[];
  readonly exact: readonly ExactMatch[];
  /** Terms of the task in the path and the title. */
  readonly pathTerms: ReadonlySet<string>;
}

/** How a text is named. */
export interface TextNames {
  /** Without a scheme. A stack trace may name folders above the root. */
  readonly path: string;
  /** Folders above the root of the mount say nothing about the text. Default: `path`. */
  readonly pathBelowRoot?: string;
  /** Its name, title and description. */
  readonly title?: string;
  readonly mimeType?: string;
}

/** Undefined for content that is not text, whatever its label. */
export function lookThrough(
  text: string,
  { path, pathBelowRoot = path, title = "", mimeType }: TextNames,
  task: Task,
): Text | undefined {
  if (text.includes("\0") || isGarbled(text)) return undefined;
  const format = textFormatOf(path, mimeType);
  const passages = passagesOf(text, format);
  const times = passages.map(() => new Map<string, number>());
  const places = passages.map((): { term: string; at: number }[] => []);
  const lengths = new Float64Array(passages.length);
  let at = 0;
  for (const { term, kind, from } of tokenize(text)) {
    while (at < passages.length - 1 && from >= passages[at]!.to) at += 1;
    if (kind !== "whole") lengths[at]! += 1;
    if (!task.terms.has(term)) continue;
    const counted = times[at]!;
    counted.set(term, (counted.get(term) ?? 0) + 1);
    places[at]!.push({ term, at: from });
  }
  const counted = passages.map((passage, index) => ({
    ...passage,
    times: times[index]!,
    places: places[index]!,
    headingTerms: termsIn(passage.heading, task),
    isPartOfLine: [passages[index - 1], passages[index + 1]].some(
      (other) => passage.lines[0] === passage.lines[1] && other?.lines.includes(passage.lines[0]),
    ),
    length: lengths[index]!,
  }));
  return {
    text,
    name: path.slice(path.lastIndexOf("/") + 1),
    kind: fileKindOf(pathBelowRoot),
    counted,
    exact: exactMatches(text, path, format, counted, task),
    pathTerms: termsIn(`${withoutExtension(pathBelowRoot)} ${title}`, task),
  };
}

/** Files with the extension that a task names are everywhere. */
export function withoutExtension(path: string): string {
  return path.replace(/(?<=[^/])\.[^./]*$/, "");
}

function termsIn(text: string, { terms }: Task): ReadonlySet<string> {
  return new Set(tokenize(text).flatMap(({ term }) => (terms.has(term) ? [term] : [])));
}
