/** A workbook as Markdown: a heading and a table per sheet, with displayed values instead of stored ones. */
import { createMarkdownBlocks, createCellCount, markdownHeading, table } from "./markdown.ts";
import { mainPart, readXml, relationshipsOf } from "./package-parts.ts";
import { scanXml } from "./xml.ts";
import type { Zip } from "./zip.ts";

const maxColumns = 16_384;

type DateKind = "date" | "time" | "both";

interface Book {
  readonly sheets: readonly { readonly name: string; readonly id: string; readonly isHidden: boolean }[];
  readonly startsIn1904: boolean;
}

interface Sheet {
  readonly name: string;
  readonly isHidden: boolean;
  readonly rows: readonly (readonly string[])[];
}

export function xlsxToMarkdown(zip: Zip): string {
  const blocks = createMarkdownBlocks();
  for (const { name, isHidden, rows } of sheetsOf(zip)) {
    blocks.add(markdownHeading(2, isHidden ? `${name} (hidden)` : name));
    blocks.add(table(rows));
  }
  return blocks.toString();
}

/** In workbook order. */
export function* sheetsOf(zip: Zip): Generator<Sheet> {
  const main = mainPart(zip);
  const related = relationshipsOf(zip, main);
  const partOf = (type: string) => [...related.values()].find((each) => each.type === type)?.target;
  const { sheets, startsIn1904 } = readBook(readXml(zip, main) ?? "");
  const strings = readStrings(readXml(zip, partOf("sharedStrings") ?? ""));
  const dates = readDateStyles(readXml(zip, partOf("styles") ?? ""));
  const count = createCellCount();
  for (const { name, id, isHidden } of sheets) {
    const xml = readXml(zip, related.get(id)?.target ?? "");
    if (xml !== undefined) yield { name, isHidden, rows: readRows(xml, { strings, dates, startsIn1904, count }) };
  }
}

function readBook(xml: string): Book {
  const sheets: { name: string; id: string; isHidden: boolean }[] = [];
  let startsIn1904 = false;
  scanXml(xml, {
    open(name, tag) {
      if (name === "workbookPr") startsIn1904 = ["1", "true"].includes(tag.get("date1904") ?? "");
      else if (name === "sheet")
        sheets.push({
          name: tag.get("name") ?? "",
          id: tag.get("id") ?? "",
          isHidden: (tag.get("state") ?? "visible") !== "visible",
        });
    },
    close() {},
  });
  return { sheets, startsIn1904 };
}

/** Phonetic readings are not part of a string. */
function readStrings(xml: string | undefined): string[] {
  const strings: string[] = [];
  let text = "";
  let inText = false;
  let inReading = false;
  scanXml(xml ?? "", {
    open(name) {
      if (name === "si") text = "";
      else if (name === "rPh") inReading = true;
      else if (name === "t") inText = true;
    },
    close(name) {
      if (name === "si") strings.push(text);
      else if (name === "rPh") inReading = false;
      else if (name === "t") inText = false;
    },
    text(piece) {
      if (inText && !inReading) text += piece;
    },
  });
  return strings;
}

interface RowsOptions {
  readonly strings: readonly string[];
  readonly dates: readonly (DateKind | undefined)[];
  readonly startsIn1904: boolean;
  count(cells: number, length: number): void;
}

function readRows(xml: string, { strings, dates, startsIn1904, count }: RowsOptions): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let column = 0;
  let type = "";
  let style = 0;
  let value = "";
  let inValue = false;
  let inReading = false;

  function endCell(): void {
    const shown = show(type, value, dates[style]);
    if (shown === "") return;
    count(Math.max(1, column + 1 - row.length), shown.length);
    while (row.length < column) row.push("");
    row[column] = shown;
  }

  function show(kind: string, raw: string, date: DateKind | undefined): string {
    switch (kind) {
      case "s":
        return strings[Number(raw)] ?? "";
      case "b":
        return raw === "1" ? "TRUE" : "FALSE";
      case "str":
      case "inlineStr":
      case "e":
      case "d":
        return raw;
      default: {
        const number = Number(raw);
        if (raw === "" || !Number.isFinite(number)) return raw;
        return (date && showDate(number, date, startsIn1904)) ?? String(Number(number.toPrecision(15)));
      }
    }
  }

  scanXml(xml, {
    open(name, tag) {
      switch (name) {
        case "row":
          row = [];
          column = -1;
          break;
        case "c":
          column = columnOf(tag.get("r")) ?? column + 1;
          type = tag.get("t") ?? "n";
          style = Number(tag.get("s") ?? 0);
          value = "";
          break;
        case "v":
        case "t":
          inValue = true;
          break;
        case "rPh":
          inReading = true;
          break;
      }
    },
    close(name) {
      if (name === "v" || name === "t") inValue = false;
      else if (name === "rPh") inReading = false;
      else if (name === "c") endCell();
      else if (name === "row" && row.length > 0) rows.push(row);
    },
    text(piece) {
      if (inValue && !inReading) value += piece;
    },
  });
  return rows;
}

/** "C5" is in the third column, which is 2. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? "")?.[0];
  if (letters === undefined) return undefined;
  const column = Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
  return column < maxColumns ? column : undefined;
}

/** Which styles display numbers as dates, by index. */
function readDateStyles(xml: string | undefined): (DateKind | undefined)[] {
  const formats = new Map<number, string>();
  const kinds: (DateKind | undefined)[] = [];
  let inCells = false;
  scanXml(xml ?? "", {
    open(name, tag) {
      if (name === "numFmt") formats.set(Number(tag.get("numFmtId")), tag.get("formatCode") ?? "");
      else if (name === "cellXfs") inCells = true;
      else if (name === "xf" && inCells) {
        const id = Number(tag.get("numFmtId") ?? 0);
        const format = formats.get(id);
        kinds.push(format === undefined ? builtInDate(id) : dateKind(format));
      }
    },
    close(name) {
      if (name === "cellXfs") inCells = false;
    },
  });
  return kinds;
}

function builtInDate(id: number): DateKind | undefined {
  if (id === 22) return "both";
  if ((id >= 18 && id <= 21) || (id >= 45 && id <= 47) || id === 32 || id === 33) return "time";
  // 27 to 36 and 50 to 58 are dates in East Asian locales.
  return (id >= 14 && id <= 17) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58) ? "date" : undefined;
}

function dateKind(format: string): DateKind | undefined {
  // Without quoted and escaped text, colours, conditions and locales; elapsed hours stay.
  const bare = format
    .replaceAll(/"[^"]*"|\\.|_./g, "")
    .replaceAll(/\[(?!h+\]|m+\]|s+\])[^[\]]*\]/gi, "")
    .split(";", 1)[0] as string;
  const hasTime = /[hs]/i.test(bare);
  const hasDate = /[ydge]/i.test(bare.replaceAll(/general/gi, "")) || (/m/i.test(bare) && !hasTime);
  if (!hasTime && !hasDate) return undefined;
  // "0.00E+00" contains an e too, but is a number.
  if (/[0#?]/.test(bare.replaceAll(/s\.0+/gi, ""))) return undefined;
  return hasTime && hasDate ? "both" : hasTime ? "time" : "date";
}

const dayMs = 86_400_000;

function showDate(serial: number, kind: DateKind, startsIn1904: boolean): string | undefined {
  if (serial < 0 || serial > 2_958_466) return undefined;
  // The 1900 system counts a 29 February 1900, which did not exist.
  const days = startsIn1904 ? serial + 1462 : serial < 60 ? serial + 1 : serial;
  const iso = new Date(Math.round((days - 25_569) * dayMs)).toISOString();
  const time = iso.slice(11, iso.endsWith(".000Z") ? 19 : 23);
  if (kind === "time" && serial < 1) return time;
  return kind === "date" && Number.isInteger(serial) ? iso.slice(0, 10) : `${iso.slice(0, 10)} ${time}`;
}
