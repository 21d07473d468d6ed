/** The cells of a Jupyter notebook as Markdown: text, code, and the text of outputs. https://nbformat.readthedocs.io */
import { stripVTControlCharacters } from "node:util";
import { DocumentError } from "./document-error.ts";
import { htmlToMarkdown } from "./html.ts";
import { createMarkdownBlocks, markdownHeading } from "./markdown.ts";

type Json = Readonly<Record<string, unknown>>;

/** How much is shown of one output, from its start and its end. */
const outputHead = 6000;
const outputTail = 2000;

/** Formats 2 to 4. Pictures and other media are named, but left out. */
export function notebookToMarkdown(bytes: Uint8Array): string {
  const notebook = parseNotebook(bytes);
  const language = languageOf(notebook);
  const blocks = createMarkdownBlocks();
  for (const cell of cellsOf(notebook)) {
    const source = withoutData(joined(cell["source"] ?? cell["input"]));
    switch (cell["cell_type"]) {
      case "markdown":
        blocks.add(source);
        break;
      // Format 3.
      case "heading":
        blocks.add(markdownHeading(Number(cell["level"]) || 1, source));
        break;
      case "code":
        blocks.add(fenced(source, plainLanguage(cell["language"]) ?? language));
        for (const output of outputsOf(list(cell["outputs"]))) blocks.add(output);
        break;
      default:
        blocks.add(fenced(source, ""));
    }
  }
  return blocks.toString();
}

function parseNotebook(bytes: Uint8Array): Json {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new DocumentError("malformed", "it is not a notebook: it is not valid JSON", cause);
  }
  return record(value);
}

function cellsOf(notebook: Json): Json[] {
  const cells =
    notebook["cells"] ??
    (Array.isArray(notebook["worksheets"])
      ? notebook["worksheets"].flatMap((sheet) => list(record(sheet)["cells"]))
      : undefined);
  if (!Array.isArray(cells)) throw new DocumentError("malformed", "it is not a notebook: it has no cells");
  return list(cells);
}

function languageOf({ metadata }: Json): string {
  const { kernelspec, language_info } = record(metadata);
  return plainLanguage(record(kernelspec)["language"]) ?? plainLanguage(record(language_info)["name"]) ?? "";
}

/** Undefined for what would end the first line of a block of code. */
function plainLanguage(name: unknown): string | undefined {
  return typeof name === "string" && /^[\w+#.-]{1,30}$/.test(name) ? name.toLowerCase() : undefined;
}

/** Consecutive pieces of a stream are one output, as on the screen. */
function outputsOf(outputs: readonly Json[]): string[] {
  const shown: string[] = [];
  let stream: { readonly name: unknown; readonly pieces: string[] } | undefined;
  const flush = (): void => {
    if (stream) shown.push(outputBlock(stream.pieces.join("")));
    stream = undefined;
  };
  for (const output of outputs) {
    const { output_type: type, text, name, stream: oldName } = output;
    if (type === "stream") {
      const ofStream = name ?? oldName;
      if (stream && stream.name !== ofStream) flush();
      stream ??= { name: ofStream, pieces: [] };
      stream.pieces.push(joined(text));
      continue;
    }
    flush();
    if (type === "error" || type === "pyerr") shown.push(outputBlock(errorText(output)));
    else shown.push(...dataBlocks(dataOf(output)));
  }
  flush();
  return shown;
}

function errorText({ traceback, ename, evalue }: Json): string {
  const trace = Array.isArray(traceback) ? traceback.filter((line) => typeof line === "string").join("\n") : "";
  return trace !== "" ? trace : [joined(ename), joined(evalue)].filter((each) => each !== "").join(": ");
}

/** Format 3 has the forms of an output beside its type, under short names. */
const shortTypes: Readonly<Record<string, string>> = {
  text: "text/plain",
  html: "text/html",
  latex: "text/latex",
  markdown: "text/markdown",
  json: "application/json",
  javascript: "application/javascript",
  svg: "image/svg+xml",
  png: "image/png",
  jpeg: "image/jpeg",
  pdf: "application/pdf",
};

function dataOf(output: Json): ReadonlyMap<string, unknown> {
  const entries =
    typeof output["data"] === "object"
      ? Object.entries(record(output["data"]))
      : Object.entries(output).flatMap(([name, value]) => {
          const type = Object.hasOwn(shortTypes, name) ? shortTypes[name] : undefined;
          return type === undefined ? [] : [[type, value] as const];
        });
  return new Map(entries);
}

/** The best text of an output, and the types of its pictures. */
function dataBlocks(data: ReadonlyMap<string, unknown>): string[] {
  const markdown = data.get("text/markdown") ?? data.get("text/latex");
  const plain = data.get("text/plain");
  const html = data.get("text/html");
  const text =
    markdown !== undefined
      ? cut(withoutData(joined(markdown)))
      : plain !== undefined
        ? outputBlock(joined(plain))
        : html !== undefined
          ? cut(htmlToMarkdown(joined(html)))
          : "";
  const isMedia = (type: string) => /^(?:image|audio|video)\//.test(type) || text === "";
  const media = [...data.keys()].filter((type) => /^[\w.+/-]{1,80}$/.test(type) && isMedia(type));
  return [text, ...media.map((type) => `[${type} left out]`)];
}

function outputBlock(text: string): string {
  const plain = stripVTControlCharacters(cut(withoutOverwritten(text)));
  return plain.trim() === "" ? "" : fenced(plain, "output");
}

/** A progress bar writes over its line again and again; its last state counts. */
function withoutOverwritten(text: string): string {
  if (!text.includes("\r")) return text;
  return text
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\r", line.length - 2) + 1).replace("\r", ""))
    .join("\n");
}

function cut(text: string): string {
  const left = text.length - outputHead - outputTail;
  return left <= 0
    ? text
    : `${text.slice(0, outputHead)}\n[${left} characters left out]\n${text.slice(-outputTail)}`.toWellFormed();
}

/** Pictures inside Markdown, as data: URLs. */
function withoutData(text: string): string {
  return text.includes(";base64,") ? text.replaceAll(/;base64,[A-Za-z0-9+/=]{100,}/g, ";base64,…") : text;
}

function fenced(text: string, language: string): string {
  if (text.trim() === "") return "";
  let longest = 2;
  for (const [run] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

/** A text may be written as a list of lines. */
function joined(value: unknown): string {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.filter((line) => typeof line === "string").join("") : "";
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(record) : [];
}

function record(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}
