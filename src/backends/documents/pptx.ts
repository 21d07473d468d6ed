/** A presentation as Markdown: slides in order, each with its notes. */
import { createMarkdownBlocks, markdownHeading, oneLine, table } from "./markdown.ts";
import { mainPart, readXml, relationshipsOf } from "./package-parts.ts";
import { scanXml } from "./xml.ts";
import type { Zip } from "./zip.ts";

interface Shape {
  /** The kind of placeholder on the slide: "title", "body", "sldNum". */
  placeholder: string | undefined;
  readonly paragraphs: { readonly text: string; readonly level: number }[];
  readonly rows: string[][];
}

export function pptxToMarkdown(zip: Zip): string {
  const main = mainPart(zip);
  const related = relationshipsOf(zip, main);
  const blocks = createMarkdownBlocks();
  let number = 0;
  for (const id of slideIds(readXml(zip, main) ?? "")) {
    const path = related.get(id)?.target ?? "";
    const xml = readXml(zip, path);
    if (xml === undefined) continue;
    number += 1;
    const shapes = readShapes(xml).filter(({ placeholder }) => !furniture.has(placeholder ?? ""));
    const title = shapes.find(({ placeholder }) => placeholder === "title" || placeholder === "ctrTitle");
    const titled = title ? oneLine(title.paragraphs.map(({ text }) => text).join(" ")) : "";
    blocks.add(markdownHeading(2, titled === "" ? `Slide ${number}` : `Slide ${number}: ${titled}`));
    for (const shape of shapes) if (shape !== title) addShape(shape, blocks.add);
    const notes = [...relationshipsOf(zip, path).values()].find(({ type }) => type === "notesSlide");
    const spoken = readShapes(readXml(zip, notes?.target ?? "") ?? "").filter(
      ({ placeholder }) => placeholder === "body",
    );
    if (spoken.some(({ paragraphs }) => paragraphs.some(({ text }) => text.trim() !== ""))) {
      blocks.add(markdownHeading(3, "Notes"));
      for (const { paragraphs } of spoken) blocks.add(paragraphs.map(({ text }) => text).join("\n"));
    }
  }
  return blocks.toString();
}

/** Numbers, dates and footers that appear on every slide. */
const furniture = new Set(["sldNum", "dt", "ftr", "hdr", "sldImg"]);

function addShape({ paragraphs, rows }: Shape, add: (block: string, joins?: boolean) => void): void {
  if (rows.length > 0) add(table(rows));
  if (paragraphs.length === 1) add(paragraphs[0]?.text ?? "");
  else
    for (const { text, level } of paragraphs)
      add(text.trim() === "" ? "" : `${"  ".repeat(level)}- ${oneLine(text)}`, true);
}

function slideIds(xml: string): string[] {
  const ids: string[] = [];
  scanXml(xml, {
    open(name, tag) {
      const id = name === "sldId" ? tag.get("r:id") : undefined;
      if (id !== undefined) ids.push(id);
    },
    close() {},
  });
  return ids;
}

function readShapes(xml: string): Shape[] {
  const shapes: Shape[] = [];
  let shape: Shape | undefined;
  let text = "";
  let level = 0;
  let inText = false;
  let inCell = false;
  let skipping = 0;
  scanXml(xml, {
    open(name, tag) {
      // An alternative for programs that do not support the first form.
      if (skipping > 0 || name === "Fallback") {
        skipping += 1;
        return;
      }
      switch (name) {
        case "sp":
        case "graphicFrame":
          shapes.push((shape = { placeholder: undefined, paragraphs: [], rows: [] }));
          break;
        case "ph":
          if (shape) shape.placeholder = tag.get("type") ?? "body";
          break;
        case "p":
          text = "";
          level = 0;
          break;
        case "pPr":
          level = Math.min(8, Number(tag.get("lvl") ?? 0) || 0);
          break;
        case "br":
          text += "\n";
          break;
        case "t":
          inText = true;
          break;
        case "tr":
          shape?.rows.push([]);
          break;
        case "tc":
          inCell = true;
          shape?.rows.at(-1)?.push("");
          break;
      }
    },
    close(name) {
      if (skipping > 0) {
        skipping -= 1;
        return;
      }
      if (name === "t") inText = false;
      else if (name === "tc") inCell = false;
      else if (name === "p" && inCell) {
        const row = shape?.rows.at(-1);
        const before = row?.pop() ?? "";
        row?.push(before === "" ? text : `${before}\n${text}`);
      } else if (name === "p") shape?.paragraphs.push({ text, level });
    },
    text(piece) {
      if (inText && skipping === 0) text += piece;
    },
  });
  return shapes;
}
