/** Finds the pages in the extracted text of a document. */

interface DocumentPage {
  readonly lines: readonly string[];
  /** Number of the first of these lines in the whole text. */
  readonly line: number;
}

export const firstPageMark = "[page 1]\n";

/** The server begins each page with a line like "[page 3]". */
export function pagesOf(text: string): readonly DocumentPage[] {
  const pages: { readonly lines: string[]; readonly line: number }[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    // Only the next number: a page may contain such a line itself.
    if (line === `[page ${pages.length + 1}]`) pages.push({ lines: [], line: index + 2 });
    else pages.at(-1)?.lines.push(line);
  }
  for (const { lines } of pages) while (lines.at(-1)?.trim() === "") lines.pop();
  return pages;
}
