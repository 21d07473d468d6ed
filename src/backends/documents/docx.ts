/** A Word document as Markdown: headings, paragraphs, lists, tables, links and notes, in reading order. */
import { createMarkdownBlocks, markdownHeading, oneLine, table } from "./markdown.ts";
import { mainPart, readXml, type Relationship, relationshipsOf } from "./package-parts.ts";
import { fromCode } from "../../lib/html-entities.ts";
import { scanXml } from "./xml.ts";
import type { Zip } from "./zip.ts";

interface Paragraph {
  text: string;
  style: string | undefined;
  level: number | undefined;
  list: { readonly id: string; readonly level: number } | undefined;
  listLevel: number;
}

interface Table {
  readonly rows: string[][];
}

interface Styles {
  headingLevel(style: string | undefined): number | undefined;
}

/** Whether a list is numbered, by list id and level. */
type Numbering = ReadonlyMap<string, ReadonlyMap<number, boolean>>;

export function docxToMarkdown(zip: Zip): string {
  const main = mainPart(zip);
  const related = relationshipsOf(zip, main);
  const partOf = (type: string) => [...related.values()].find((each) => each.type === type)?.target;
  const xmlOf = (type: string) => {
    const part = partOf(type);
    return part === undefined ? undefined : readXml(zip, part);
  };
  const styles = readStyles(xmlOf("styles"));
  const numbering = readNumbering(xmlOf("numbering"));
  const blocks = createMarkdownBlocks();
  readBody(readXml(zip, main) ?? "", { styles, numbering, related, add: blocks.add });
  for (const [type, mark] of [
    ["footnotes", ""],
    ["endnotes", "e"],
  ] as const)
    for (const [id, text] of readNotes(xmlOf(type), { styles, numbering, related }))
      blocks.add(`[^${mark}${id}]: ${oneLine(text)}`);
  return blocks.toString();
}

interface BodyOptions {
  readonly styles: Styles;
  readonly numbering: Numbering;
  readonly related: ReadonlyMap<string, Relationship>;
  add(block: string, joins?: boolean): void;
}

/** Elements that are not part of the text: ruby, moved or deleted passages, alternative renderings. */
const skipped = new Set([
  "rt",
  "moveFrom",
  "del",
  "Fallback",
  "instrText",
  "delText",
  "tabs",
  "rPr",
  "pPrChange",
  "sectPr",
]);

function readBody(xml: string, { styles, numbering, related, add }: BodyOptions): void {
  const paragraphs: Paragraph[] = [];
  const tables: Table[] = [];
  const links: { readonly target: string; readonly from: number }[] = [];
  const counts = new Map<string, number>();
  let skipping = 0;
  let inText = false;

  const write = (text: string): void => {
    const paragraph = paragraphs.at(-1);
    if (paragraph) paragraph.text += text;
  };

  function endParagraph(): void {
    const paragraph = paragraphs.pop();
    if (!paragraph) return;
    const cell = paragraphs.length === 0 ? tables.at(-1)?.rows.at(-1) : undefined;
    if (cell) {
      const before = cell.pop() ?? "";
      cell.push(before === "" ? paragraph.text : `${before}\n${paragraph.text}`);
      return;
    }
    const { text, style, list } = paragraph;
    const level = paragraph.level === undefined ? styles.headingLevel(style) : paragraph.level + 1;
    if (level !== undefined && level <= 9) add(markdownHeading(level, text));
    else if (list) add(item(list, oneLine(text)), true);
    else add(text);
  }

  function item({ id, level }: { readonly id: string; readonly level: number }, text: string): string {
    const indent = "  ".repeat(Math.min(level, 8));
    if (!numbering.get(id)?.get(level)) return `${indent}- ${text}`;
    const key = `${id}/${level}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    for (const other of counts.keys()) {
      const [otherId, otherLevel] = other.split("/");
      if (otherId === id && Number(otherLevel) > level) counts.delete(other);
    }
    return `${indent}${count}. ${text}`;
  }

  function endTable(): void {
    const { rows } = tables.pop() ?? { rows: [] };
    const cell = tables.at(-1)?.rows.at(-1);
    if (!cell) return add(table(rows));
    // A nested table: its rows become lines.
    const before = cell.pop() ?? "";
    cell.push([before, ...rows.map((row) => row.map((each) => oneLine(each)).join(" / "))].filter(Boolean).join("\n"));
  }

  scanXml(xml, {
    open(name, tag) {
      if (skipping > 0 || skipped.has(name)) {
        skipping += 1;
        return;
      }
      const paragraph = paragraphs.at(-1);
      switch (name) {
        case "p":
          paragraphs.push({ text: "", style: undefined, level: undefined, list: undefined, listLevel: 0 });
          break;
        case "pStyle":
          if (paragraph) paragraph.style = tag.get("val");
          break;
        case "outlineLvl":
          if (paragraph) paragraph.level = Number(tag.get("val"));
          break;
        case "ilvl":
          if (paragraph) paragraph.listLevel = Number(tag.get("val")) || 0;
          break;
        case "numId": {
          const id = tag.get("val");
          // Zero removes a paragraph from the list of its style.
          if (paragraph && id !== undefined && id !== "0") paragraph.list = { id, level: paragraph.listLevel };
          break;
        }
        case "t":
          inText = true;
          break;
        case "tab":
          write("\t");
          break;
        case "br":
        case "cr":
          write("\n");
          break;
        case "noBreakHyphen":
          write("\u2011");
          break;
        case "sym":
          write(symbol(tag.get("char")));
          break;
        case "footnoteReference":
          write(`[^${tag.get("id") ?? ""}]`);
          break;
        case "endnoteReference":
          write(`[^e${tag.get("id") ?? ""}]`);
          break;
        case "hyperlink": {
          const link = related.get(tag.get("id") ?? "");
          links.push({ target: link?.isExternal ? link.target : "", from: paragraph?.text.length ?? 0 });
          break;
        }
        case "tbl":
          tables.push({ rows: [] });
          break;
        case "tr":
          tables.at(-1)?.rows.push([]);
          break;
        case "tc":
          tables.at(-1)?.rows.at(-1)?.push("");
          break;
      }
    },
    close(name) {
      if (skipping > 0) {
        skipping -= 1;
        return;
      }
      if (name === "t") inText = false;
      else if (name === "p") endParagraph();
      else if (name === "tbl") endTable();
      else if (name === "hyperlink") endLink(paragraphs.at(-1), links.pop());
    },
    text(text) {
      if (inText && skipping === 0) write(text);
    },
  });
}

function endLink(
  paragraph: Paragraph | undefined,
  link: { readonly target: string; readonly from: number } | undefined,
): void {
  if (!paragraph || !link || !/^(?:https?|mailto):/i.test(link.target)) return;
  const shown = paragraph.text.slice(link.from);
  if (shown.trim() === "" || shown === link.target) return;
  paragraph.text = `${paragraph.text.slice(0, link.from)}[${shown}](${link.target})`;
}

/** Characters of a symbol font are in the private use area, and mean nothing without the font. */
function symbol(hex: string | undefined): string {
  const code = Number.parseInt(hex ?? "", 16);
  return code >= 0xe000 && code <= 0xf8ff ? "" : fromCode(code);
}

/** The notes of a document by id; the first two are separator lines. */
function readNotes(xml: string | undefined, options: Omit<BodyOptions, "add">): Map<string, string> {
  const notes = new Map<string, string>();
  for (const piece of (xml ?? "").split(/<\/(?:\w+:)?(?:foot|end)note>/).slice(0, -1)) {
    const [begin, head = ""] = /<(?:\w{1,20}:)?(?:foot|end)note\b([^<>]*)>/.exec(piece) ?? [];
    if (begin === undefined) continue;
    const body = piece.slice(piece.indexOf(begin) + begin.length);
    if (/\btype=/.test(head)) continue;
    const id = /\bid="(-?\d+)"/.exec(head)?.[1];
    const texts: string[] = [];
    readBody(body, { ...options, add: (block) => texts.push(block) });
    if (id !== undefined) notes.set(id, texts.join(" "));
  }
  return notes;
}

function readStyles(xml: string | undefined): Styles {
  const levels = new Map<string, number>();
  const parents = new Map<string, string>();
  let style = "";
  scanXml(xml ?? "", {
    open(name, tag) {
      if (name === "style") style = tag.get("styleId") ?? "";
      else if (name === "name" && style !== "") {
        const named = (tag.get("val") ?? "").toLowerCase();
        const level = /^heading ([1-9])$/.exec(named)?.[1];
        if (level !== undefined) levels.set(style, Number(level));
        else if (named === "title") levels.set(style, 1);
      } else if (name === "outlineLvl" && style !== "") levels.set(style, Number(tag.get("val")) + 1);
      else if (name === "basedOn" && style !== "") parents.set(style, tag.get("val") ?? "");
    },
    close(name) {
      if (name === "style") style = "";
    },
  });
  return {
    headingLevel(of) {
      for (let each = of, turns = 0; each !== undefined && turns < 20; each = parents.get(each), turns += 1) {
        const level = levels.get(each);
        if (level !== undefined) return level;
      }
      return undefined;
    },
  };
}

function readNumbering(xml: string | undefined): Numbering {
  const abstract = new Map<string, Map<number, boolean>>();
  const numbers = new Map<string, Map<number, boolean>>();
  let levels: Map<number, boolean> | undefined;
  let level = 0;
  let number = "";
  scanXml(xml ?? "", {
    open(name, tag) {
      if (name === "abstractNum") abstract.set(tag.get("abstractNumId") ?? "", (levels = new Map()));
      else if (name === "lvl") level = Number(tag.get("ilvl"));
      else if (name === "numFmt") levels?.set(level, !["bullet", "none"].includes(tag.get("val") ?? ""));
      else if (name === "num") number = tag.get("numId") ?? "";
      else if (name === "abstractNumId") numbers.set(number, abstract.get(tag.get("val") ?? "") ?? new Map());
    },
    close(name) {
      if (name === "abstractNum") levels = undefined;
    },
  });
  return numbers;
}
