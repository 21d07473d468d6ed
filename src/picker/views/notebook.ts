/** Parses a Jupyter notebook (format 4, https://nbformat.readthedocs.io) into cells and their outputs. */
import { isRecord } from "../loose.ts";
import { isPicture } from "./is-picture.ts";

export interface NotebookCell {
  readonly kind: "markdown" | "code" | "raw";
  readonly text: string;
  /** Of a code cell that was run. */
  readonly count?: number;
  readonly outputs: readonly NotebookOutput[];
}

export type NotebookOutput =
  | { readonly kind: "text" | "error" | "html" | "markdown"; readonly text: string }
  | { readonly kind: "picture"; readonly type: string; readonly body: string | Uint8Array; readonly alt: string }
  /** Types that cannot be shown. */
  | { readonly kind: "other"; readonly types: readonly string[] };

interface Notebook {
  readonly language: string;
  readonly cells: readonly NotebookCell[];
}

const maxPicture = 16 * 1024 * 1024;
const maxHtml = 256 * 1024;

/** Undefined for anything but a notebook. */
export function parseNotebookView(text: string): Notebook | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || !Array.isArray(value["cells"])) return undefined;
  return { language: languageOf(value["metadata"]), cells: value["cells"].filter(isRecord).map(cellOf) };
}

function languageOf(metadata: unknown): string {
  const { language_info: info, kernelspec } = isRecord(metadata) ? metadata : {};
  const found = (isRecord(info) && info["name"]) || (isRecord(kernelspec) && kernelspec["language"]);
  return typeof found === "string" ? found.toLowerCase() : "";
}

function cellOf(cell: Readonly<Record<string, unknown>>): NotebookCell {
  const { cell_type: kind, source, execution_count: count, outputs } = cell;
  return {
    kind: kind === "markdown" || kind === "code" ? kind : "raw",
    text: joined(source),
    ...(typeof count === "number" && { count }),
    outputs: kind === "code" && Array.isArray(outputs) ? outputsOf(outputs.filter(isRecord)) : [],
  };
}

/** Consecutive pieces of a stream are one output. */
function outputsOf(outputs: readonly Readonly<Record<string, unknown>>[]): readonly NotebookOutput[] {
  const found: NotebookOutput[] = [];
  let stream: string[] = [];
  const flush = (): void => {
    if (stream.length > 0) found.push({ kind: "text", text: plainText(stream.join("")) });
    stream = [];
  };
  for (const output of outputs) {
    if (output["output_type"] === "stream") {
      stream.push(joined(output["text"]));
      continue;
    }
    flush();
    if (output["output_type"] === "error") found.push({ kind: "error", text: plainText(errorText(output)) });
    else if (isRecord(output["data"])) found.push(bestOf(new Map(Object.entries(output["data"]))));
  }
  flush();
  return found;
}

function errorText({ traceback, ename, evalue }: Readonly<Record<string, unknown>>): string {
  const lines = Array.isArray(traceback) ? traceback.filter((line) => typeof line === "string") : [];
  return lines.length > 0 ? lines.join("\n") : `${joined(ename)}: ${joined(evalue)}`;
}

/** The richest form that can be shown. */
function bestOf(data: ReadonlyMap<string, unknown>): NotebookOutput {
  const plain = joined(data.get("text/plain"));
  for (const [type, value] of data) {
    const body = isPicture(type) ? pictureIn(type, joined(value)) : undefined;
    if (body !== undefined) return { kind: "picture", type, body, alt: plain };
  }
  const html = joined(data.get("text/html"));
  if (html !== "" && html.length <= maxHtml) return { kind: "html", text: html };
  if (data.has("text/markdown")) return { kind: "markdown", text: joined(data.get("text/markdown")) };
  if (plain !== "") return { kind: "text", text: plainText(plain) };
  if (data.has("application/json"))
    return { kind: "text", text: JSON.stringify(data.get("application/json"), undefined, 2) };
  return { kind: "other", types: [...data.keys()] };
}

function pictureIn(type: string, text: string): string | Uint8Array | undefined {
  if (text === "" || text.length > maxPicture) return undefined;
  if (type === "image/svg+xml") return text;
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}

// oxlint-disable-next-line no-control-regex -- These are the sequences that terminals interpret.
const terminalCodes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*\u0007?)/g;

/** Without colours of a terminal. Of a line that was overwritten, such as a progress bar, the last state. */
function plainText(text: string): string {
  return text
    .replaceAll(terminalCodes, "")
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\r", line.length - 2) + 1))
    .join("\n");
}

/** A text may be written as a list of lines. */
function joined(value: unknown): string {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.filter((line) => typeof line === "string").join("") : "";
}
