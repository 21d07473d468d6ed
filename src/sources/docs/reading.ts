/** Reads a document: all of it, a range, or one section. */
import { invalid, notFound, quote, ResourceError } from "../../errors.ts";
import type { Call } from "../../resources.ts";
import type { Part } from "../../source.ts";
import type { Placed } from "./arrange.ts";
import type { DocumentFiles } from "./collection.ts";
import { type Describe, type EntryOptions, revealed } from "./entry.ts";
import type { DocumentFormat } from "./formats.ts";
import { findHeadings, type Heading, type DocumentSection, sectionOf } from "./headings.ts";

export const headingTemplate = "{lang}/{+path}{?heading}";
export const rangeTemplate = "{lang}/{+path}{?lines,bytes,as}";

type Query = Readonly<Record<string, string>>;

export interface DocumentReader {
  read(placed: Placed, query: Query | undefined, call: Call): Promise<readonly Part[]>;
  /** The section that a query names. Throws "not-found" if it does not exist. */
  section(placed: Placed, slug: string, call: Call): Promise<DocumentSection & { readonly mimeType: string }>;
  headings(placed: Placed, call: Call): Promise<readonly Heading[]>;
}

interface DocumentReaderOptions extends Pick<EntryOptions, "addressOf"> {
  readonly files: DocumentFiles;
  readonly describe: Describe;
}

/** Further headings are not listed in a response. */
const maxOutline = 500;

/** Throws "not-found" for an unknown query. */
export function parseDocumentQuery(address: string, query: Query | undefined): Query | undefined {
  const names = Object.keys(query ?? {});
  if (names.length === 0) return undefined;
  if (!names.every((name) => name === "heading" || name === "lines" || name === "bytes" || name === "as"))
    throw notFound(address);
  if (names.includes("heading") && names.length > 1)
    throw invalid('request a section by its heading alone, as in "heading=install", without a range');
  return query;
}

export function createDocumentReader({ files, describe, addressOf }: DocumentReaderOptions): DocumentReader {
  async function readFile(placed: Placed, query: Query | undefined, call: Call): Promise<readonly Part[]> {
    const { file } = placed.document;
    try {
      return await files.read(query ? { path: file, query } : { path: file }, call);
    } catch (cause) {
      throw cause instanceof ResourceError ? inOwnWords(cause, placed) : cause;
    }
  }

  /** The text with its headings and its format. */
  async function text(
    placed: Placed,
    call: Call,
  ): Promise<{ part: Part; text: string; format: DocumentFormat } | undefined> {
    const { format } = placed.document;
    const isTakenOut = format === "html" || format === "document";
    const [part] = await readFile(placed, isTakenOut ? { as: "text" } : undefined, call);
    if (!part || !("text" in part.body)) return undefined;
    return { part, text: part.body.text, format: isTakenOut ? formatOfText(part) : format };
  }

  async function section(placed: Placed, slug: string, call: Call) {
    const found = await text(placed, call);
    const cut = found && sectionOf(found.text, await findHeadings(found.text, found.format), slug);
    if (!cut) throw notFound(`${placed.address}?heading=${slug}`);
    return { ...cut, mimeType: found.part.mimeType ?? "text/plain", meta: found.part.meta };
  }

  return {
    section,

    async headings(placed, call) {
      const found = await text(placed, call);
      return found ? findHeadings(found.text, found.format) : [];
    },

    async read(placed, query, call) {
      const { meta: said, description } = describe(placed);
      const own = { "pressmark/docs": { ...(said?.["pressmark/docs"] as object), description } };
      const reveals = revealed(placed.document.entry.reveals, addressOf);
      const slug = query?.["heading"];
      if (slug !== undefined) {
        const { text: cut, mimeType, heading, lines, meta } = await section(placed, slug, call);
        const named = { "pressmark/heading": heading, "pressmark/range": { lines } };
        return [{ body: { text: cut }, mimeType, meta: { ...meta, ...own, ...named }, reveals }];
      }
      const isWhole = query?.["lines"] === undefined && query?.["bytes"] === undefined;
      const parts = await readFile(placed, query, call);
      return Promise.all(
        parts.map(async ({ reveals: _reveals, ...part }) => {
          const format = query ? formatOfText(part) : placed.document.format;
          const headings = isWhole && "text" in part.body ? await findHeadings(part.body.text, format) : [];
          const outline = headings.length > 0 && { "pressmark/outline": headings.slice(0, maxOutline) };
          return { ...part, meta: { ...part.meta, ...own, ...outline }, reveals };
        }),
      );
    },
  };
}

function formatOfText({ mimeType }: Part): DocumentFormat {
  return mimeType === "text/markdown" ? "markdown" : "text";
}

/** Replaces file paths in error messages by addresses, which the caller knows. */
function inOwnWords(cause: ResourceError, { document, address }: Placed): ResourceError {
  const { kind, passing, details } = cause;
  const message = cause.message.replaceAll(quote(document.file), quote(address));
  const own = details && "template" in details ? { ...details, template: rangeTemplate } : details;
  return new ResourceError(kind, message, { passing, cause, details: own });
}
