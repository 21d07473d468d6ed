/** The metadata of a document from its path and its first lines. */
import type { Entry } from "../../source.ts";
import type { DocumentFormat } from "./formats.ts";
import { stemOf } from "./formats.ts";
import { parseDocumentFrontMatter } from "./front-matter.ts";
import type { DocumentFrontMatter } from "./front-matter.ts";
import { firstTitle } from "./headings.ts";
import { baseLanguageOf, decideLanguage, detectLanguage } from "./language.ts";
import type { LanguageMarks } from "./language.ts";
import { languageBar } from "./links.ts";
import type { DocumentRating } from "./rules.ts";

export interface DocumentHead {
  /** Its path in the folder. */
  readonly file: string;
  readonly format: DocumentFormat;
  /** The entry of the folder source. */
  readonly entry: Entry;
  readonly lang: string;
  /** True if only a few Han characters show that it is Chinese. */
  readonly mayBeJapanese: boolean;
  /** The language mark in its path. */
  readonly mark?: string;
  /** The path without its language marks. */
  readonly bare: string;
  readonly title: string;
  readonly description?: string;
  /** Priority and audience from its front matter. */
  readonly said: Pick<DocumentFrontMatter, "priority" | "audience">;
  readonly verdict: DocumentRating;
  /** Files that its language bar links to. */
  readonly bar: readonly string[];
}

export interface HeadOptions {
  readonly marks: LanguageMarks;
  readonly rules: (path: string) => DocumentRating;
  /** The language of documents without any indication. */
  readonly fallback: string;
}

/** This much of a file is read. */
export const headBytes = 16 * 1024;

/** `head` is undefined for a document without readable text. */
export async function describeDocument(
  entry: Entry,
  format: DocumentFormat,
  head: string | undefined,
  { marks, rules, fallback }: HeadOptions,
): Promise<DocumentHead> {
  const { path: file } = entry;
  const {
    title,
    description,
    lang: said,
    ...rest
  } = head === undefined ? {} : await parseDocumentFrontMatter(head, format);
  const mark = marks.read(file);
  const detected = head === undefined || said !== undefined ? undefined : detectLanguage(head, format);
  const lang = decideLanguage({ path: file, said, mark, detected, fallback });
  const isGiven = (said ?? mark) !== undefined || baseLanguageOf(fallback) === "zh";
  const bare = mark === undefined ? file : marks.strip(file, lang);
  const rating = rules(file);
  return {
    file,
    format,
    entry,
    lang,
    mayBeJapanese: lang === "zh" && !isGiven && !detected?.isSure,
    mark,
    bare,
    title: detached(title ?? (head === undefined ? undefined : firstTitle(head, format)) ?? stemOf(file)),
    description: description === undefined ? undefined : detached(description),
    said: rest,
    // A translation matters as much as its original, whose folder may have another name.
    verdict: rating.rule === "default" ? rules(bare) : rating,
    bar: head === undefined ? [] : languageBar(file, head, format),
  };
}

/** A copy: a substring would keep the whole text in memory. */
function detached(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}
