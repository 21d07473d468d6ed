/** Minimal real documents, created in tests. */
import { deflateRawSync } from "node:zlib";

export interface ZipEntry {
  readonly content: string | Uint8Array;
  /** Already compressed: written instead of the content. */
  readonly packed?: Uint8Array;
  readonly isEncrypted?: boolean;
  /** Not compressed. */
  readonly isStored?: boolean;
}

export function zip(entries: Readonly<Record<string, string | Uint8Array | ZipEntry>>): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let at = 0;
  for (const [name, given] of Object.entries(entries)) {
    const { content, packed, isEncrypted, isStored } =
      typeof given === "string" || given instanceof Uint8Array ? ({ content: given } satisfies ZipEntry) : given;
    const bytes = Buffer.from(content as string);
    const body = packed ?? (isStored ? bytes : deflateRawSync(bytes));
    const written = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x800 | (isEncrypted ? 1 : 0), 2);
    common.writeUInt16LE(isStored ? 0 : 8, 4);
    common.writeUInt32LE(body.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(written.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, written, body]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    centrals.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\0"), common, tail, written]));
    locals.push(local);
    at += local.length;
  }
  const directory = Buffer.concat(centrals);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(centrals.length, 8);
  end.writeUInt16LE(centrals.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, directory, end]);
}

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const relationshipTypes = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/** Targets that start with "http" are external. */
export function relationships(of: Readonly<Record<string, readonly [type: string, target: string]>>): string {
  const each = Object.entries(of).map(
    ([id, [type, target]]) =>
      `<Relationship Id="${id}" Type="${relationshipTypes}/${type}" Target="${target}"${target.startsWith("http") ? ' TargetMode="External"' : ""}/>`,
  );
  return `${declaration}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${each.join("")}</Relationships>`;
}

/** `body` is the content of `w:body`. */
export function docx(body: string, more: Readonly<Record<string, string | ZipEntry>> = {}): Buffer {
  return zip({
    "_rels/.rels": relationships({ rId1: ["officeDocument", "word/document.xml"] }),
    "word/_rels/document.xml.rels": relationships({
      rId1: ["styles", "styles.xml"],
      rId2: ["numbering", "numbering.xml"],
      rId3: ["footnotes", "footnotes.xml"],
      rId4: ["hyperlink", "https://example.com/?a=1&amp;b=2"],
    }),
    "word/document.xml": `${declaration}<w:document><w:body>${body}</w:body></w:document>`,
    ...more,
  });
}

/** Each sheet is the content of `sheetData`. */
export function xlsx(
  sheets: Readonly<Record<string, string>>,
  { strings = "", styles = "", book = "" }: { strings?: string; styles?: string; book?: string } = {},
): Buffer {
  const names = Object.keys(sheets);
  return zip({
    "_rels/.rels": relationships({ rId1: ["officeDocument", "xl/workbook.xml"] }),
    "xl/workbook.xml": `${declaration}<workbook>${book}<sheets>${names
      .map((name, at) => `<sheet name="${name}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`)
      .join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relationships({
      ...Object.fromEntries(
        names.map((_, at) => [`rId${at + 1}`, ["worksheet", `worksheets/sheet${at + 1}.xml`] as const]),
      ),
      strings: ["sharedStrings", "sharedStrings.xml"],
      styles: ["styles", "/xl/styles.xml"],
    }),
    "xl/sharedStrings.xml": `${declaration}<sst>${strings}</sst>`,
    "xl/styles.xml": `${declaration}<styleSheet>${styles}</styleSheet>`,
    ...Object.fromEntries(
      names.map((name, at) => [
        `xl/worksheets/sheet${at + 1}.xml`,
        `${declaration}<worksheet><sheetData>${sheets[name] ?? ""}</sheetData></worksheet>`,
      ]),
    ),
  });
}

/** Slides in display order; the files are numbered in reverse. */
export function pptx(slides: readonly { readonly shapes: string; readonly notes?: string }[]): Buffer {
  const number = (at: number): number => slides.length - at;
  return zip({
    "_rels/.rels": relationships({ rId1: ["officeDocument", "ppt/presentation.xml"] }),
    "ppt/presentation.xml": `${declaration}<p:presentation><p:sldIdLst>${slides
      .map((_, at) => `<p:sldId id="${256 + at}" r:id="rId${number(at)}"/>`)
      .join("")}</p:sldIdLst></p:presentation>`,
    "ppt/_rels/presentation.xml.rels": relationships(
      Object.fromEntries(
        slides.map((_, at) => [`rId${number(at)}`, ["slide", `slides/slide${number(at)}.xml`] as const]),
      ),
    ),
    ...Object.fromEntries(
      slides.flatMap(({ shapes, notes }, at) => [
        [
          `ppt/slides/slide${number(at)}.xml`,
          `${declaration}<p:sld><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`,
        ],
        ...(notes === undefined
          ? []
          : [
              [
                `ppt/slides/_rels/slide${number(at)}.xml.rels`,
                relationships({ rId1: ["notesSlide", `../notesSlides/notesSlide${number(at)}.xml`] }),
              ],
              [
                `ppt/notesSlides/notesSlide${number(at)}.xml`,
                `${declaration}<p:notes><p:cSld><p:spTree>${shape("body", [notes])}${shape("sldNum", ["7"])}</p:spTree></p:cSld></p:notes>`,
              ],
            ]),
      ]),
    ),
  });
}

export function shape(placeholder: string | undefined, paragraphs: readonly string[]): string {
  const place = placeholder === undefined ? "" : `<p:nvSpPr><p:nvPr><p:ph type="${placeholder}"/></p:nvPr></p:nvSpPr>`;
  const texts = paragraphs.map((text) => `<a:p><a:r><a:rPr lang="ja-JP"/><a:t>${text}</a:t></a:r></a:p>`).join("");
  return `<p:sp>${place}<p:txBody>${texts}</p:txBody></p:sp>`;
}

/** `body` is the content of `office:text`, or of the element of `kind`. */
export function odf(body: string, kind: "text" | "spreadsheet" | "presentation" = "text"): Buffer {
  return zip({
    mimetype: { content: `application/vnd.oasis.opendocument.${kind}`, isStored: true },
    "content.xml": `${declaration}<office:document-content><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`,
  });
}

/** Pages of lines. The font has no shapes, only the table from its codes to characters. */
export function pdf(
  pages: readonly (readonly string[])[],
  { filter }: { filter?: (stream: Buffer) => Buffer } = {},
): Buffer {
  const characters = [...new Set(pages.flat().flatMap((line) => Array.from(line)))];
  const glyph = (character: string): string => (characters.indexOf(character) + 1).toString(16).padStart(4, "0");
  const maps: string[] = [];
  for (let at = 0; at < characters.length; at += 100) {
    const some = characters.slice(at, at + 100);
    maps.push(`${some.length} beginbfchar`, ...some.map((each) => `<${glyph(each)}> <${unicode(each)}>`), "endbfchar");
  }
  const toUnicode = [
    "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Adobe-Identity-UCS def /CMapType 2 def",
    "1 begincodespacerange <0000> <ffff> endcodespacerange",
    ...maps,
    "endcmap CMapName currentdict /CMap defineresource pop end end",
  ].join("\n");
  const stream = (text: string): Buffer => {
    const plain = Buffer.from(text);
    const body = filter ? filter(plain) : plain;
    const head = `<< /Length ${body.length}${filter ? " /Filter /FlateDecode" : ""} >>\nstream\n`;
    return Buffer.concat([Buffer.from(head), body, Buffer.from("\nendstream")]);
  };
  const firstPage = 6;
  const objects: (string | Buffer)[] = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, at) => `${firstPage + 2 * at} 0 R`).join(" ")}] >>`,
    "<< /Type /Font /Subtype /Type0 /BaseFont /Test /Encoding /Identity-H /DescendantFonts [4 0 R] /ToUnicode 5 0 R >>",
    "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Test /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /DW 1000 >>",
    stream(toUnicode),
    ...pages.flatMap((lines, at) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${firstPage + 2 * at + 1} 0 R >>`,
      stream(
        `BT /F1 12 Tf 50 780 Td 18 TL\n${lines.map((line) => `<${Array.from(line, glyph).join("")}> Tj T*`).join("\n")}\nET`,
      ),
    ]),
  ];
  const pieces = [Buffer.from("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "latin1")];
  const offsets: number[] = [];
  let at = pieces[0]?.length ?? 0;
  for (const [index, object] of objects.entries()) {
    offsets.push(at);
    const piece = Buffer.concat([
      Buffer.from(`${index + 1} 0 obj\n`),
      Buffer.from(object as string),
      Buffer.from("\nendobj\n"),
    ]);
    pieces.push(piece);
    at += piece.length;
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const end = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${at}\n%%EOF\n`;
  return Buffer.concat([...pieces, Buffer.from(end)]);
}

function unicode(character: string): string {
  return Array.from({ length: character.length }, (_, at) =>
    character.charCodeAt(at).toString(16).padStart(4, "0"),
  ).join("");
}
