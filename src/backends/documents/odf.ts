/** An OpenDocument text, sheet or presentation as Markdown. All three use one content file with the same elements. */
import { DocumentError } from "./document-error.ts";
import { createMarkdownBlocks, createCellCount, markdownHeading, oneLine, table } from "./markdown.ts";
import { readXml } from "./package-parts.ts";
import { scanXml } from "./xml.ts";
import type { Zip } from "./zip.ts";

/** Ruby, comments, deletions, note numbers, and index sources. */
const skipped = new Set([
  "ruby-text",
  "annotation",
  "tracked-changes",
  "table-of-content-source",
  "sequence-decls",
  "forms",
  "note-citation",
]);

/** A sheet may repeat one cell a million times. */
const maxRepeats = 1000;

interface Cell {
  text: string;
  readonly repeats: number;
}

interface Row {
  readonly cells: Cell[];
}

export function odfToMarkdown(zip: Zip): string {
  if ((readXml(zip, "META-INF/manifest.xml") ?? "").includes("encryption-data"))
    throw new DocumentError("protected", "it is protected by a password");
  const xml = readXml(zip, "content.xml");
  if (xml === undefined) throw new DocumentError("malformed", "it has no content");
  const blocks = createMarkdownBlocks();
  const paragraphs: { text: string; readonly level: number | undefined }[] = [];
  const tables: Row[][] = [];
  const notes: string[] = [];
  let lists = 0;
  let skipping = 0;
  let page = 0;
  const count = createCellCount();
  /** The text of a note, while inside one. */
  let note: string[] | undefined;

  const write = (text: string): void => {
    const paragraph = paragraphs.at(-1);
    if (paragraph) paragraph.text += text;
  };

  function endParagraph(): void {
    const { text, level } = paragraphs.pop() ?? { text: "", level: undefined };
    const cell = tables.at(-1)?.at(-1)?.cells.at(-1);
    if (note) note.push(text);
    else if (cell) cell.text = cell.text === "" ? text : `${cell.text}\n${text}`;
    else if (level !== undefined) blocks.add(markdownHeading(level, text));
    else if (lists > 0)
      blocks.add(text.trim() === "" ? "" : `${"  ".repeat(Math.min(8, lists - 1))}- ${oneLine(text)}`, true);
    else blocks.add(text);
  }

  function endTable(): void {
    const rows = (tables.pop() ?? []).map((row) => spread(row, count));
    const cell = tables.at(-1)?.at(-1)?.cells.at(-1);
    const filled = rows.filter((row) => row.some((each) => each !== ""));
    if (cell) cell.text += filled.map((row) => row.map((each) => oneLine(each)).join(" / ")).join("\n");
    else blocks.add(table(filled));
  }

  scanXml(xml, {
    open(name, tag) {
      if (skipping > 0 || skipped.has(name)) {
        skipping += 1;
        return;
      }
      switch (name) {
        case "h":
          paragraphs.push({ text: "", level: Number(tag.get("outline-level") ?? 1) });
          break;
        case "p":
          paragraphs.push({ text: "", level: undefined });
          break;
        case "s":
          write(" ".repeat(Math.min(maxRepeats, Number(tag.get("c") ?? 1) || 1)));
          break;
        case "tab":
          write("\t");
          break;
        case "line-break":
          write("\n");
          break;
        case "list":
          lists += 1;
          break;
        case "page":
          page += 1;
          blocks.add(markdownHeading(2, `Slide ${page}`));
          break;
        case "notes":
          if (page > 0) blocks.add(markdownHeading(3, "Notes"));
          break;
        case "note":
          write(`[^${notes.length + 1}]`);
          note = [];
          break;
        case "table":
          if (tables.length === 0 && tag.get("table:name") !== undefined && isSheet(xml))
            blocks.add(markdownHeading(2, tag.get("table:name") ?? ""));
          tables.push([]);
          break;
        case "table-row":
          tables.at(-1)?.push({ cells: [] });
          break;
        case "table-cell":
        case "covered-table-cell":
          tables
            .at(-1)
            ?.at(-1)
            ?.cells.push({ text: "", repeats: Number(tag.get("number-columns-repeated") ?? 1) || 1 });
          break;
      }
    },
    close(name) {
      if (skipping > 0) {
        skipping -= 1;
        return;
      }
      switch (name) {
        case "h":
        case "p":
          endParagraph();
          break;
        case "list":
          lists -= 1;
          break;
        case "note":
          notes.push((note ?? []).join(" "));
          note = undefined;
          break;
        case "table":
          endTable();
          break;
      }
    },
    text(text) {
      // Line breaks in the file are not part of the text.
      if (skipping === 0 && paragraphs.length > 0) write(text.replaceAll(/\s+/g, " "));
    },
  });
  for (const [index, text] of notes.entries()) blocks.add(`[^${index + 1}]: ${oneLine(text)}`);
  return blocks.toString();
}

function isSheet(xml: string): boolean {
  return xml.includes("<office:spreadsheet");
}

function spread({ cells }: Row, count: (cells: number, length: number) => void): string[] {
  const row: string[] = [];
  let end = cells.length;
  while (end > 0 && cells[end - 1]?.text === "") end -= 1;
  for (const { text, repeats } of cells.slice(0, end)) {
    const times = Math.min(repeats, maxRepeats);
    count(times, times * text.length);
    for (let turn = 0; turn < times; turn += 1) row.push(text);
  }
  return row;
}
