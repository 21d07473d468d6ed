/** The text of a document, by its type. Each reader is loaded on first use. */
import { notebookType } from "../../lib/mime.ts";
import { DocumentError } from "./document-error.ts";
import { openZip, type Zip } from "./zip.ts";

interface DocumentText {
  readonly mimeType: "text/markdown" | "text/plain" | "application/json";
  readonly text: string;
}

/** A workbook whose sheets are returned separately. */
export const sheetsType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet;sheets";

/** Type of a web page whose content is wanted, in UTF-8; followed by the URL of the page. */
export const pageType = "text/html;url=";
/** The same without the library, which some pages overtax. */
export const plainPageType = "text/html;plain;url=";

/** Throws a DocumentError if there is no text. */
export async function documentText(bytes: Uint8Array, mimeType: string): Promise<DocumentText> {
  if (mimeType === "application/pdf") {
    const { pdfToText } = await import("./pdf.ts");
    return { mimeType: "text/plain", text: await pdfToText(bytes) };
  }
  const ofPage = [pageType, plainPageType].find((type) => mimeType.startsWith(type));
  if (ofPage !== undefined) {
    const { pageToMarkdown } = await import("./main-content.ts");
    const load = ofPage === plainPageType ? async () => undefined : undefined;
    const text = await pageToMarkdown(new TextDecoder().decode(bytes), mimeType.slice(ofPage.length), load);
    return { mimeType: "text/markdown", text };
  }
  if (mimeType === "text/html") {
    const { decodeHtml, htmlToMarkdown } = await import("./html.ts");
    return { mimeType: "text/markdown", text: htmlToMarkdown(decodeHtml(bytes)) };
  }
  if (mimeType === notebookType)
    return { mimeType: "text/markdown", text: (await import("./notebook.ts")).notebookToMarkdown(bytes) };
  if (bytes[0] === 0xd0 && bytes[1] === 0xcf) throw new DocumentError("protected", "it is protected by a password");
  if (mimeType === sheetsType)
    return { mimeType: "application/json", text: (await import("./csv.ts")).xlsxToCsv(openZip(bytes)) };
  return { mimeType: "text/markdown", text: await packagedText(openZip(bytes), mimeType) };
}

async function packagedText(zip: Zip, mimeType: string): Promise<string> {
  if (mimeType.includes("opendocument")) return (await import("./odf.ts")).odfToMarkdown(zip);
  if (mimeType.includes("wordprocessingml")) return (await import("./docx.ts")).docxToMarkdown(zip);
  if (mimeType.includes("spreadsheetml")) return (await import("./xlsx.ts")).xlsxToMarkdown(zip);
  if (mimeType.includes("presentationml")) return (await import("./pptx.ts")).pptxToMarkdown(zip);
  throw new DocumentError("malformed", "text cannot be extracted from this type");
}
