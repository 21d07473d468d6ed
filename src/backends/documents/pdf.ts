/** The text of a PDF, page by page. Needs an optional package. */
import { packageNeeded } from "../../lib/missing-package.ts";
import { DocumentError } from "./document-error.ts";

type Unpdf = Pick<typeof import("unpdf"), "getDocumentProxy">;

const maxLength = 32 * 1024 * 1024;

export async function pdfToText(
  bytes: Uint8Array,
  load: () => Promise<Unpdf> = () => import("unpdf"),
): Promise<string> {
  const { getDocumentProxy } = await loadOrSay(load);
  const pdf = await open(() => getDocumentProxy(bytes, { verbosity: 0 }));
  const pages: string[] = [];
  let length = 0;
  try {
    for (let number = 1; number <= pdf.numPages; number += 1) {
      const page = await pdf.getPage(number);
      const { items } = await page.getTextContent();
      let text = "";
      for (const item of items) if ("str" in item) text += item.hasEOL ? `${item.str}\n` : item.str;
      page.cleanup();
      const lines = unradical(text).split("\n");
      const clean = lines
        .map((line) => line.trimEnd())
        .join("\n")
        .trim();
      length += clean.length;
      if (length > maxLength) throw new DocumentError("too-large", `it has more than ${maxLength} characters of text`);
      pages.push(clean);
    }
  } finally {
    await pdf.loadingTask.destroy();
  }
  if (length === 0) throw new DocumentError("no-text", "its pages hold no text; they may be pictures");
  return `${pages.map((text, at) => `[page ${at + 1}]\n${text}`.trimEnd()).join("\n\n")}\n`;
}

async function loadOrSay(load: () => Promise<Unpdf>): Promise<Unpdf> {
  try {
    return await load();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new DocumentError("missing-package", packageNeeded("PDF files need", "unpdf"), cause);
  }
}

async function open<T>(opening: () => Promise<T>): Promise<T> {
  try {
    return await opening();
  } catch (cause) {
    const isProtected = (cause as Error).name === "PasswordException";
    throw isProtected
      ? new DocumentError("protected", "it is protected by a password", cause)
      : new DocumentError("malformed", "it is not a PDF, or is damaged", cause);
  }
}

/** Fonts in PDF files often map a kanji to the similar radical, which no search finds. Everything else stays unchanged. */
function unradical(text: string): string {
  return text.replaceAll(/[\u2f00-\u2fd5\u2e9f\u2ef3]/g, (radical) => radical.normalize("NFKC"));
}
