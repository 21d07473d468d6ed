/** Parses the metadata in the first lines of a document. */
import { decodeHtmlEntities } from "../../backends/documents/html-entities.ts";
import type { Annotations } from "../../resources.ts";
import type { DocumentFormat } from "./formats.ts";
import { canonicalTag } from "./language.ts";
import { frontMatterOf } from "./prose.ts";

export interface DocumentFrontMatter {
  readonly title?: string;
  readonly lang?: string;
  readonly priority?: number;
  readonly audience?: NonNullable<Annotations["audience"]>;
}

/** Longer ones are ignored: parsing this much takes tens of milliseconds at most. */
const maxYaml = 2 * 1024;
const maxTitle = 200;

/** Invalid fields count as absent. */
export async function parseDocumentFrontMatter(head: string, format: DocumentFormat): Promise<DocumentFrontMatter> {
  if (format === "html") return ofHtml(head);
  const matter = frontMatterOf(head);
  if (matter) return ofYaml(matter.yaml);
  return format === "asciidoc" || format === "rst" ? ofFields(head) : {};
}

async function ofYaml(text: string): Promise<DocumentFrontMatter> {
  const known = knownFields(text);
  if (known === "" || known.length > maxYaml) return {};
  const { isMap, isScalar, isSeq, parseDocument } = await import("yaml");
  try {
    const { contents } = parseDocument(known, { prettyErrors: false, logLevel: "silent", uniqueKeys: false });
    if (!isMap(contents)) return {};
    // Only literal values: aliases are not resolved, so nothing can expand.
    return sort((name) => {
      const value: unknown = contents.get(name, true);
      if (isScalar(value)) return value.value;
      if (isSeq(value)) return value.items.slice(0, 10).map((item) => (isScalar(item) ? item.value : undefined));
      return undefined;
    });
  } catch {
    // Nested too deeply for the parser.
    return {};
  }
}

const knownField = /^["']?(?:title|lang|language|priority|audience)["']?[ \t]*:/;

/** The lines of known fields with the indented lines below them: parsing everything would be slow. */
function knownFields(text: string): string {
  let isKnown = false;
  return text
    .split("\n")
    .filter((line) => (isKnown = /^(?:[ \t-]|$)/.test(line) ? isKnown : knownField.test(line)))
    .join("\n");
}

/** `:lang: ja`, in the first lines of AsciiDoc and reStructuredText. */
function ofFields(head: string): DocumentFrontMatter {
  const fields = new Map<string, unknown>();
  for (const line of head.split("\n", 40)) {
    const [, name, value] = /^:(title|lang|language|priority|audience):[ \t]+(\S.{0,299})$/.exec(line.trimEnd()) ?? [];
    if (name === undefined || value === undefined || fields.has(name)) continue;
    fields.set(name, name === "priority" ? Number(value) : name === "audience" ? value.split(/[,\s]+/) : value);
  }
  return sort((name) => fields.get(name));
}

function ofHtml(head: string): DocumentFrontMatter {
  const title = /<title\b[^<>]{0,200}>([^<]{0,1000})/i.exec(head)?.[1];
  const lang = /<html\b[^<>]{0,1000}?\slang\s{0,4}=\s{0,4}["']?([a-z0-9-]{2,35})/i.exec(head)?.[1];
  return sort((name) => (name === "title" ? title && decodeHtmlEntities(title) : name === "lang" ? lang : undefined));
}

function sort(field: (name: string) => unknown): DocumentFrontMatter {
  const title = toTitle(field("title"));
  const named = field("lang") ?? field("language");
  const lang = typeof named === "string" ? canonicalTag(named.trim()) : undefined;
  const priority = field("priority");
  const audience = toAudience(field("audience"));
  return {
    title,
    lang,
    ...(typeof priority === "number" && priority >= 0 && priority <= 1 && { priority }),
    audience,
  };
}

/** One line of limited length. */
export function toTitle(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const line = String(value)
    .slice(0, 4 * maxTitle)
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .toWellFormed();
  if (line === "") return undefined;
  return line.length > maxTitle ? `${line.slice(0, maxTitle).toWellFormed()}…` : line;
}

function toAudience(value: unknown): DocumentFrontMatter["audience"] | undefined {
  const named: readonly unknown[] = Array.isArray(value) ? value : [value];
  const known = (["user", "assistant"] as const).filter((each) => named.includes(each));
  return known.length > 0 ? known : undefined;
}
