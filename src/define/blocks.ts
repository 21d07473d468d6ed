/** What tools and prompts of a small server return: texts, and resources of the same mount. */
import { lastingFailure, quote } from "../errors.ts";
import type { Call } from "../resources.ts";
import type { Address, Entry, Source, SourceBlock } from "../source.ts";
import { isRecord, kindOf } from "./check-definition.ts";
import type { DefinedTemplate } from "./template.ts";

/** A path of the same mount as in `texts`, or the address of a resource of a template: `forecast.at({ city })`. */
export type DefinedAddress = string | Address;

export interface LinkTo extends Pick<Entry, "title" | "description"> {
  readonly linkTo: DefinedAddress;
}

export interface EmbeddedFrom {
  readonly embedFrom: DefinedAddress;
}

/** A text, a link to a resource, a resource with its content, or a block of another kind. */
export type DefinedBlock = string | LinkTo | EmbeddedFrom | SourceBlock;

/** A link to a resource of the same mount. A caller who may not see it gets a note instead. */
export function link(to: DefinedAddress, about: Pick<Entry, "title" | "description"> = {}): DefinedBlock {
  return { ...about, linkTo: to };
}

/** A resource of the same mount with its content. */
export function embed(from: DefinedAddress): DefinedBlock {
  return { embedFrom: from };
}

export interface BlockResolver {
  /** Throws if neither a text nor a template is there: a fault of the program. */
  locate(to: DefinedAddress): Entry;
  resolve(block: DefinedBlock, call: Call): Promise<readonly SourceBlock[]>;
}

export function createBlockResolver(
  source: Source,
  hasText: (path: string) => boolean,
  templates: readonly DefinedTemplate[],
): BlockResolver {
  const isText = ({ path, query }: Address): boolean => hasText(path) && Object.keys(query ?? {}).length === 0;

  function locate(to: DefinedAddress): Entry {
    if (typeof to !== "string" && !hasPath(to))
      throw lastingFailure(`${kindOf(to)} is no address; write a path of "texts", or use \`at\` of a template`);
    const at = typeof to === "string" ? { path: to } : to;
    if (isText(at)) return at;
    // In a path, "?" would be part of a name.
    const isConfused = typeof to === "string" && to.includes("?");
    const found = isConfused ? undefined : templates.find((each) => each.matches(at));
    if (!found) {
      const isUri = at.path.includes("://");
      const hint = isUri ? "; write its path alone" : isConfused ? "; for a query, use `at` of the template" : "";
      throw lastingFailure(`${quote(at.path)} is no text and matches no template of this mount${hint}`);
    }
    const { description, mimeType } = found;
    return { ...at, ...(description !== undefined && { description }), ...(mimeType !== undefined && { mimeType }) };
  }

  return {
    locate,
    async resolve(block, call) {
      if (typeof block === "string") return [{ type: "text", text: block }];
      if ("linkTo" in block) {
        const { linkTo, ...about } = block;
        const entry = locate(linkTo);
        // What a template shows is not read for a link to it.
        const known = isText(entry) ? await source.stat?.(entry, call) : undefined;
        return [{ type: "link", entry: { ...entry, ...known, ...about } }];
      }
      if (!("embedFrom" in block)) return [block];
      const { path, query } = locate(block.embedFrom);
      const at: Address = query ? { path, query } : { path };
      return (await source.read(at, call)).map((part) => ({ type: "embedded", part: { ...part, at } }));
    },
  };
}

function hasPath(at: unknown): boolean {
  return isRecord(at) && typeof at["path"] === "string";
}

function isBody(body: unknown): boolean {
  return isRecord(body) && (typeof body["text"] === "string" || body["bytes"] instanceof Uint8Array);
}

/** Says what a value is that is no block; undefined for a block. */
export function blockProblem(block: unknown): string | undefined {
  if (typeof block === "string") return undefined;
  if (!isRecord(block)) return kindOf(block);
  if ("linkTo" in block || "embedFrom" in block) return undefined;
  const { type, text, bytes, mimeType, entry, part } = block;
  switch (type) {
    case undefined:
      return kindOf(block);
    case "text":
      return typeof text === "string" ? undefined : `a block whose "text" is ${kindOf(text)}`;
    case "image":
    case "audio":
      if (!(bytes instanceof Uint8Array)) return `a block whose "bytes" (a Uint8Array) is ${kindOf(bytes)}`;
      return typeof mimeType === "string" ? undefined : `a block whose "mimeType" is ${kindOf(mimeType)}`;
    case "link":
      return hasPath(entry) ? undefined : 'a block of the type "link" without an entry';
    case "embedded":
      if (isRecord(part) && hasPath(part["at"]) && isBody(part["body"])) return undefined;
      return 'a block of the type "embedded" without a part';
    default:
      return `a block of the unknown type ${typeof type === "string" ? quote(type) : kindOf(type)}`;
  }
}
