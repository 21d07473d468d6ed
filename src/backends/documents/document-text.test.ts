import { deflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { DocumentError } from "./document-error.ts";
import { documentText } from "./document-text.ts";
import { pdfToText } from "./pdf.ts";
import { docx, odf, pdf, pptx, shape, xlsx, zip } from "./test-documents.ts";

const office = "application/vnd.openxmlformats-officedocument";
const types = {
  pdf: "application/pdf",
  docx: `${office}.wordprocessingml.document`,
  xlsx: `${office}.spreadsheetml.sheet`,
  pptx: `${office}.presentationml.presentation`,
  odt: "application/vnd.oasis.opendocument.text",
  ods: "application/vnd.oasis.opendocument.spreadsheet",
  odp: "application/vnd.oasis.opendocument.presentation",
};

async function textOf(bytes: Uint8Array, type: keyof typeof types): Promise<string> {
  return (await documentText(Uint8Array.from(bytes), types[type])).text;
}

async function faultOf(bytes: Uint8Array, type: keyof typeof types): Promise<string> {
  const cause: unknown = await textOf(bytes, type).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(cause instanceof DocumentError)) throw new Error(`no fault was found, but ${String(cause)}`);
  return `${cause.fault}: ${cause.message}`;
}

const run = (text: string): string => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
const paragraph = (text: string, properties = ""): string => `<w:p><w:pPr>${properties}</w:pPr>${run(text)}</w:p>`;
const item = (text: string, number: number, level = 0): string =>
  paragraph(text, `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${number}"/></w:numPr>`);

const cell = (at: string, value: string, more = ""): string => `<c r="${at}" ${more}><v>${value}</v></c>`;
const one = (text: string, repeats = 1): string =>
  `<table:table-cell table:number-columns-repeated="${repeats}">${text === "" ? "" : `<text:p>${text}</text:p>`}</table:table-cell>`;

describe("a PDF", () => {
  it("returns its lines, page by page", async () => {
    const bytes = pdf([
      ["日本語の見出し", "① 本文です。"],
      ["Second page", "last line"],
    ]);
    expect(await documentText(Uint8Array.from(bytes), types.pdf)).toEqual({
      mimeType: "text/plain",
      text: "[page 1]\n日本語の見出し\n① 本文です。\n\n[page 2]\nSecond page\nlast line\n",
    });
  });

  it("has kanji where its font has similar radicals, and nothing else normalised", async () => {
    expect(await textOf(pdf([["⼀⼆⾼⽊ ｱ① ㈱"]]), "pdf")).toBe("[page 1]\n一二高木 ｱ① ㈱\n");
  });

  it("reports that it has no text", async () => {
    expect(await faultOf(pdf([[], []]), "pdf")).toBe("no-text: its pages hold no text; they may be pictures");
  });

  it("reports that it is damaged", async () => {
    expect(await faultOf(Buffer.from("%PDF-1.7\nnothing"), "pdf")).toBe("malformed: it is not a PDF, or is damaged");
  });

  it("needs a package, and the error names the command that installs it", async () => {
    const missing = Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
    await expect(pdfToText(pdf([["x"]]), () => Promise.reject(missing))).rejects.toMatchObject({
      fault: "missing-package",
      message: `PDF files need the package "unpdf"; run in Pressmark's checkout: npm install`,
    });
  });
});

describe("a Word document", () => {
  it("returns headings, paragraphs, lists and tables", async () => {
    const bytes = docx(
      paragraph("年次報告", '<w:pStyle w:val="a3"/>') +
        paragraph("概要", '<w:pStyle w:val="2"/>') +
        paragraph("売上は &lt;増加&gt; した。") +
        item("一つ目", 1) +
        item("内側", 1, 1) +
        item("二つ目", 1) +
        item("点", 2) +
        `<w:tbl><w:tr><w:tc>${paragraph("品名")}</w:tc><w:tc>${paragraph("数|量")}</w:tc></w:tr>` +
        `<w:tr><w:tc>${paragraph("鉛筆")}${paragraph("赤")}</w:tc><w:tc>${paragraph("12")}</w:tc></w:tr></w:tbl>`,
      {
        "word/styles.xml":
          '<w:styles><w:style w:styleId="a3"><w:name w:val="Title"/></w:style><w:style w:styleId="1"><w:name w:val="heading 1"/></w:style>' +
          '<w:style w:styleId="2"><w:name w:val="見出し改"/><w:basedOn w:val="1"/></w:style></w:styles>',
        "word/numbering.xml":
          '<w:numbering><w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="aiueo"/></w:lvl></w:abstractNum>' +
          '<w:abstractNum w:abstractNumId="8"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>' +
          '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num></w:numbering>',
      },
    );
    expect(await textOf(bytes, "docx")).toBe(
      "# 年次報告\n\n# 概要\n\n売上は <増加> した。\n\n1. 一つ目\n  1. 内側\n2. 二つ目\n- 点\n\n" +
        "| 品名 | 数\\|量 |\n| --- | --- |\n| 鉛筆<br>赤 | 12 |\n",
    );
  });

  it("returns the visible text: no ruby, nothing deleted or moved away, nothing twice", async () => {
    const ruby = `<w:r><w:ruby><w:rt>${run("かんじ")}</w:rt><w:rubyBase>${run("漢字")}</w:rubyBase></w:ruby></w:r>`;
    const deleted = "<w:del><w:r><w:delText>古い</w:delText></w:r></w:del>";
    const moved = `<w:moveFrom>${run("ここではない")}</w:moveFrom>`;
    const drawn = `<mc:AlternateContent><mc:Choice>${run("図")}</mc:Choice><mc:Fallback>${run("図")}</mc:Fallback></mc:AlternateContent>`;
    const field =
      "<w:r><w:instrText>PAGEREF _Toc</w:instrText></w:r><w:r><w:tab/><w:t>3</w:t><w:br/><w:t>次</w:t></w:r>";
    expect(await textOf(docx(`<w:p>${ruby}${deleted}${moved}${drawn}${field}</w:p>`), "docx")).toBe("漢字図\t3\n次\n");
  });

  it("returns links and notes", async () => {
    const bytes = docx(
      `<w:p><w:hyperlink r:id="rId4">${run("資料")}</w:hyperlink><w:hyperlink w:anchor="x">${run("内部")}</w:hyperlink><w:r><w:footnoteReference w:id="2"/></w:r></w:p>`,
      {
        "word/footnotes.xml": `<w:footnotes><w:footnote w:type="separator" w:id="0">${paragraph("—")}</w:footnote><w:footnote w:id="2">${paragraph("注の本文")}</w:footnote></w:footnotes>`,
      },
    );
    expect(await textOf(bytes, "docx")).toBe("[資料](https://example.com/?a=1&b=2)内部[^2]\n\n[^2]: 注の本文\n");
  });
});

describe("a workbook", () => {
  it("returns each sheet as a table of displayed values", async () => {
    const bytes = xlsx(
      {
        売上:
          `<row r="1">${cell("A1", "0", 't="s"')}${cell("B1", "1", 't="s"')}<c r="D1" t="inlineStr"><is><t>備考</t></is></c></row>` +
          `<row r="3">${cell("A3", "45000", 's="1"')}${cell("B3", "0.30000000000000004")}${cell("C3", "1", 't="b"')}${cell("D3", "#N/A", 't="e"')}</row>` +
          `<row r="4">${cell("A4", "45000.5", 's="2"')}${cell("B4", "0.75", 's="3"')}${cell("C4", "5", 's="4"')}</row><row r="9"/>`,
        "二枚目 &amp; 空": "",
      },
      {
        strings:
          '<si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></si><si><r><t>大</t></r><r><t>阪</t></r></si>',
        styles:
          '<numFmts><numFmt numFmtId="176" formatCode="[$-411]ggge&quot;年&quot;m&quot;月&quot;d&quot;日&quot;\\ h:mm"/><numFmt numFmtId="177" formatCode="#,##0&quot;days&quot;"/></numFmts>' +
          '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="176"/><xf numFmtId="21"/><xf numFmtId="177"/></cellXfs>',
      },
    );
    expect(await textOf(bytes, "xlsx")).toBe(
      "## 売上\n\n| 東京 | 大阪 |  | 備考 |\n| --- | --- | --- | --- |\n| 2023-03-15 | 0.3 | TRUE | #N/A |\n" +
        "| 2023-03-15 12:00:00 | 18:00:00 | 5 |\n\n## 二枚目 & 空\n",
    );
  });

  it.each([
    ["1", "1900-01-01", ""],
    ["60", "1900-02-29 does not exist", ""],
    ["61", "1900-03-01", ""],
    ["0", "1904-01-01", '<workbookPr date1904="1"/>'],
  ])("counts days as spreadsheet programs do: %s is %s", async (serial, date, book) => {
    const bytes = xlsx(
      { a: `<row>${cell("A1", serial, 's="1"')}</row>` },
      { book, styles: '<cellXfs><xf/><xf numFmtId="14"/></cellXfs>' },
    );
    // Day 60 does not exist; it is shown as the day it would have been.
    expect(await textOf(bytes, "xlsx")).toContain(serial === "60" ? "1900-02-28" : date);
  });
});

describe("a presentation", () => {
  it("returns its slides in order, each with its notes and without numbers and footers", async () => {
    const table =
      "<p:graphicFrame><a:tbl><a:tr><a:tc><a:p><a:r><a:t>左</a:t></a:r></a:p></a:tc><a:tc><a:p><a:r><a:t>右</a:t></a:r></a:p></a:tc></a:tr></a:tbl></p:graphicFrame>";
    const bytes = pptx([
      {
        shapes: shape("ctrTitle", ["事業計画"]) + shape("body", ["一つ目", "二つ目"]) + shape("sldNum", ["1"]),
        notes: "ここで話すこと",
      },
      { shapes: shape(undefined, ["題名のない頁"]) + table },
    ]);
    expect(await textOf(bytes, "pptx")).toBe(
      "## Slide 1: 事業計画\n\n- 一つ目\n- 二つ目\n\n### Notes\n\nここで話すこと\n\n## Slide 2\n\n題名のない頁\n\n| 左 | 右 |\n| --- | --- |\n",
    );
  });
});

describe("an OpenDocument", () => {
  it("returns the text of a text document", async () => {
    const bytes = odf(
      '<text:h text:outline-level="2">見出し</text:h><text:p>本文<text:s text:c="2"/>続き<text:note><text:note-citation>1</text:note-citation>' +
        "<text:note-body><text:p>脚注</text:p></text:note-body></text:note>と<text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>かんじ</text:ruby-text></text:ruby>。</text:p>" +
        "<text:list><text:list-item><text:p>項目</text:p></text:list-item></text:list>",
    );
    expect(await textOf(bytes, "odt")).toBe("## 見出し\n\n本文  続き[^1]と漢字。\n\n- 項目\n\n[^1]: 脚注\n");
  });

  it("returns the sheets of a workbook, without their endless empty ends", async () => {
    const bytes = odf(
      `<table:table table:name="表"><table:table-row>${one("あ")}${one("い", 3)}${one("", 16_000)}</table:table-row>` +
        `<table:table-row table:number-rows-repeated="1000000">${one("", 16_384)}</table:table-row></table:table>`,
      "spreadsheet",
    );
    expect(await textOf(bytes, "ods")).toBe("## 表\n\n| あ | い | い | い |\n| --- | --- | --- | --- |\n");
  });

  it("returns the slides of a presentation", async () => {
    const bytes = odf(
      "<draw:page><text:p>題</text:p><presentation:notes><text:p>話す</text:p></presentation:notes></draw:page>",
      "presentation",
    );
    expect(await textOf(bytes, "odp")).toBe("## Slide 1\n\n題\n\n### Notes\n\n話す\n");
  });
});

describe("a malicious document", () => {
  it("does not unpack beyond the limit", async () => {
    const packed = deflateRawSync(Buffer.alloc(300 * 1024 * 1024, "a"));
    expect(await faultOf(docx("", { "word/document.xml": { content: "", packed } }), "docx")).toBe(
      "too-large: it unpacks to more than 268435456 bytes",
    );
  });

  it("cannot declare entities", async () => {
    const laughs = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><w:document>&b;</w:document>';
    expect(await faultOf(docx("", { "word/document.xml": laughs }), "docx")).toMatch(/^malformed: it declares/);
  });

  it("cannot repeat one string a million times", async () => {
    const cells = '<c t="s"><v>0</v></c>'.repeat(10_000);
    const bytes = xlsx({ a: `<row>${cells}</row>` }, { strings: `<si><t>${"x".repeat(100_000)}</t></si>` });
    expect(await faultOf(bytes, "xlsx")).toMatch(/^too-large: it has more than \d+ characters/);
    const repeated = `<table:table><table:table-row>${'<table:table-cell table:number-columns-repeated="999999"><text:p>xxxxxxxxxx</text:p></table:table-cell>'.repeat(9000)}</table:table-row></table:table>`;
    expect(await faultOf(odf(repeated, "spreadsheet"), "ods")).toMatch(/^too-large: it has more than/);
  });

  it("cannot be nested without end", async () => {
    expect(await faultOf(docx("<w:p>".repeat(20_000)), "docx")).toBe("too-large: its elements are nested too deeply");
  });

  it.each([
    ["nothing", Buffer.alloc(0), "malformed: it is not a ZIP file, or is truncated"],
    [
      "another file",
      Buffer.from("PK\x03\x04 and so on".repeat(10)),
      "malformed: it is not a ZIP file, or is truncated",
    ],
    ["a ZIP file of something else", zip({ "a.txt": "a" }), "malformed: its main part is not declared"],
    [
      "a password",
      zip({ "_rels/.rels": { content: "x", isEncrypted: true } }),
      "protected: it is protected by a password",
    ],
    [
      "a password, as the programs do it",
      Buffer.from("d0cf11e0a1b11ae1", "hex"),
      "protected: it is protected by a password",
    ],
    [
      "a broken entry",
      zip({ "_rels/.rels": { content: "x", packed: Buffer.from("not deflated") } }),
      "malformed: an entry cannot be unpacked",
    ],
    ["XML that is cut off", docx("", { "word/document.xml": '<w:document a="' }), "malformed: its XML is truncated"],
  ])("is rejected: %s", async (_, bytes, fault) => {
    expect(await faultOf(bytes, "docx")).toBe(fault);
  });

  it("is rejected wherever it is truncated, or returns the existing part", async () => {
    const bytes = docx(paragraph("本文"));
    for (let length = 0; length < bytes.length; length += 7)
      await documentText(Uint8Array.from(bytes.subarray(0, length)), types.docx).catch((cause: unknown) => {
        if (!(cause instanceof DocumentError)) throw cause;
      });
  });
});
