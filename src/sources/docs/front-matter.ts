/** Parses the metadata in the first lines of a document. */
import { decodeHtmlEntities } from "../../lib/html-entities.ts";
import { parseJson } from "../../lib/parse-json.ts";
import { shortLine } from "../../lib/on-one-line.ts";
import type { Annotations } from "../../resources.ts";
import type { DocumentFormat } from "./formats.ts";
import { canonicalTag } from "./language.ts";
import { frontMatterOf } from "./prose.ts";

export interface DocumentFrontMatter {
  readonly title?: string;
  readonly description?: string;
  readonly lang?: string;
  readonly priority?: number;
  readonly audience?: NonNullable<Annotations["audience"]>;
}

/** Longer ones are ignored: parsing this much takes tens of milliseconds at most. */
const maxYaml = 2 * 1024;
const maxTitle = 200;
const maxDescription = 500;

/** Invalid fields count as absent. */
export async function parseDocumentFrontMatter(head: string, format: DocumentFormat): Promise<DocumentFrontMatter> {
  if (format === "html") return ofHtml(head);
  const matter = frontMatterOf(head);
  if (matter) return matter.language === "yaml" ? ofYaml(matter.text) : ofToml(matter.text);
  return format === "asciidoc" || format === "rst" ? ofFields(head, format) : {};
}

async function ofYaml(text: string): Promise<DocumentFrontMatter> {
  const known = linesOf(text, /^["']?(?:title|lang|language|priority|audience)["']?[ \t]*:/);
  // A long description is cut, and must not cost the other fields.
  const described = linesOf(text, /^["']?description["']?[ \t]*:/).slice(0, maxYaml);
  const fields = known.length > maxYaml ? undefined : await yamlFields(known);
  const more = await yamlFields(described);
  return sort((name) => (name === "description" ? more : fields)?.(name));
}

/** Undefined if it is not a map. Only literal values: aliases are not resolved, so nothing can expand. */
async function yamlFields(text: string): Promise<((name: string) => unknown) | undefined> {
  if (text === "") return undefined;
  const { isMap, isScalar, isSeq, parseDocument } = await import("yaml");
  try {
    const { contents } = parseDocument(text, { prettyErrors: false, logLevel: "silent", uniqueKeys: false });
    if (!isMap(contents)) return undefined;
    return (name) => {
      const value: unknown = contents.get(name, true);
      if (isScalar(value)) return value.value;
      if (isSeq(value)) return value.items.slice(0, 10).map((item) => (isScalar(item) ? item.value : undefined));
      return undefined;
    };
  } catch {
    // Nested too deeply for the parser.
    return undefined;
  }
}

/** The lines of known fields with the indented lines below them: parsing everything would be slow. */
function linesOf(text: string, field: RegExp): string {
  let isKnown = false;
  return text
    .split("\n")
    .filter((line) => (isKnown = /^(?:[ \t-]|$)/.test(line) ? isKnown : field.test(line)))
    .join("\n");
}

/** Values of one line before the first table: what Hugo writes. Strings of TOML are those of JSON, or literal in single quotes. */
function ofToml(text: string): DocumentFrontMatter {
  const fields = new Map<string, unknown>();
  for (const line of text.split("\n")) {
    if (line.startsWith("[")) break;
    const [, name = "", value = ""] =
      /^(title|description|lang|language|priority|audience)[ \t]*=(.{1,2048})/.exec(line) ?? [];
    const written = value.trim();
    const literal = /^'([^']*)'/.exec(written)?.[1];
    if (written !== "")
      fields.set(name, literal ?? parseJson(/^(?:"(?:[^"\\]|\\.)*"|\[[^\]]*\]|[\d.]+)/.exec(written)?.[0] ?? ""));
  }
  return sort((name) => fields.get(name));
}

/** `:lang: ja`, in the first lines of AsciiDoc and reStructuredText; `:description:` also below `.. meta::`. */
function ofFields(head: string, format: DocumentFormat): DocumentFrontMatter {
  const fields = new Map<string, unknown>();
  const field = format === "rst" ? restField : asciidocField;
  for (const line of head.replaceAll(/ \\\r?\n/g, " ").split("\n", 40)) {
    const [, name, value] = field.exec(line.trimEnd()) ?? [];
    if (name === undefined || value === undefined || fields.has(name)) continue;
    fields.set(name, name === "priority" ? Number(value) : name === "audience" ? value.split(/[,\s]+/) : value);
  }
  return sort((name) => fields.get(name));
}

const asciidocField = /^:(title|description|lang|language|priority|audience):[ \t]+(\S.{0,1999})$/;
const restField =
  /^(?: {1,8}(?=:description))?:(title|description|lang|language|priority|audience):[ \t]+(\S.{0,1999})$/;

function ofHtml(head: string): DocumentFrontMatter {
  const title = /<title\b[^<>]{0,200}>([^<]{0,1000})/i.exec(head)?.[1];
  const lang = /<html\b[^<>]{0,1000}?\slang\s{0,4}=\s{0,4}["']?([a-z0-9-]{2,35})/i.exec(head)?.[1];
  const meta = /<meta\b[^<>]{0,4000}?\sname\s{0,4}=\s{0,4}["']?description\b[^<>]{0,4000}/i.exec(head)?.[0];
  const [, double, single] = /\scontent\s{0,4}=\s{0,4}(?:"([^"]{0,4000})"|'([^']{0,4000})')/i.exec(meta ?? "") ?? [];
  const fields: Readonly<Record<string, string | undefined>> = { title, lang, description: double ?? single };
  return sort((name) => {
    const value = fields[name];
    return value && decodeHtmlEntities(value);
  });
}

function sort(field: (name: string) => unknown): DocumentFrontMatter {
  const title = toTitle(field("title"));
  const description = toLine(field("description"), maxDescription);
  const named = field("lang") ?? field("language");
  const lang = typeof named === "string" ? canonicalTag(named.trim()) : undefined;
  const priority = field("priority");
  const audience = toAudience(field("audience"));
  return {
    title,
    description,
    lang,
    ...(typeof priority === "number" && priority >= 0 && priority <= 1 && { priority }),
    audience,
  };
}

export function toTitle(value: unknown): string | undefined {
  return toLine(value, maxTitle);
}

function toLine(value: unknown, maxLength: number): string | undefined {
  return typeof value === "string" || typeof value === "number" ? shortLine(String(value), maxLength) : undefined;
}

function toAudience(value: unknown): DocumentFrontMatter["audience"] | undefined {
  const named: readonly unknown[] = Array.isArray(value) ? value : [value];
  const known = (["user", "assistant"] as const).filter((each) => named.includes(each));
  return known.length > 0 ? known : undefined;
}
