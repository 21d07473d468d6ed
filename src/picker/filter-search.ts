/** Search filters, and their query syntax. */
import type { Hit } from "../resources.ts";

export interface Filters {
  /** URI of a directory at the top of the tree. */
  readonly source: string;
  /** One of `kinds`. */
  readonly kind: string;
  readonly language: string;
  readonly audience: string;
  /** Minimum priority. */
  readonly priority: string;
  /** Such as `7d`. */
  readonly since: string;
}

export const noFilters: Filters = { source: "", kind: "", language: "", audience: "", priority: "", since: "" };

/** Kinds of content as people call them, and the matching words of MIME types. */
export const searchKinds: Readonly<Record<string, readonly string[]>> = {
  markdown: ["text/markdown"],
  text: ["text/plain"],
  code: ["javascript", "typescript", "jsx", "tsx", "css", "sql", "x"],
  data: ["json", "jsonl", "yaml", "toml", "xml"],
  table: ["csv", "tab", "spreadsheet", "spreadsheetml", "parquet"],
  html: ["html", "xhtml"],
  pdf: ["pdf"],
  document: ["msword", "wordprocessingml", "presentationml", "spreadsheetml", "opendocument", "rtf"],
  image: ["image"],
};
export const languages = ["en", "ja", "zh", "ko", "code"] as const;
export const audiences = ["user", "assistant"] as const;
export const priorities = ["0.5", "0.8", "1"] as const;
export const spans = ["1h", "1d", "7d", "30d", "1y"] as const;

export function isFiltered(filters: Filters): boolean {
  return Object.values(filters).some((value) => value !== "");
}

/** The search request, or undefined if there is nothing to search for. */
export function questionOf(text: string, filters: Filters): { text: string; within?: string } | undefined {
  const { source, kind, language, audience, priority, since } = filters;
  const words = [
    ...(searchKinds[kind] ?? []).map((word) => `mime:${word}`),
    ...(language === "" ? [] : [`lang:${language}`]),
    ...(audience === "" ? [] : [`audience:${audience}`]),
    ...(priority === "" ? [] : [`priority:${priority}`]),
    ...(since === "" ? [] : [`after:${since}`]),
    // Last, because its last word may be incomplete.
    text.trim(),
  ].filter((word) => word !== "");
  if (words.length === 0 && source === "") return undefined;
  // A source alone is no query: it means everything in it.
  return { text: words.length === 0 ? "path:*" : words.join(" "), ...(source !== "" && { within: source }) };
}

/** Returns whether a hit matches the filters: the search of a mount may ignore them. */
export function agrees({ resource: { mimeType, annotations } }: Hit, filters: Filters, now: number): boolean {
  const { kind, audience, priority, since } = filters;
  const { audience: forWhom = [], priority: own, lastModified = "" } = annotations ?? {};
  const words = searchKinds[kind];
  if (words && mimeType !== undefined && !words.some((word) => isOfType(mimeType, word))) return false;
  if (audience !== "" && forWhom.length > 0 && !forWhom.some((one) => one === audience)) return false;
  if (priority !== "" && own !== undefined && own < Number(priority)) return false;
  return since === "" || !(Date.parse(lastModified) < now - msOf(since));
}

function isOfType(mimeType: string, word: string): boolean {
  const type = mimeType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return word.includes("/") ? type === word : type.split(/[/+.-]/).includes(word);
}

const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, y: 365 * 86_400_000 };

function msOf(span: string): number {
  return Number.parseInt(span, 10) * (unitMs[span.at(-1) ?? ""] ?? Number.NaN);
}
