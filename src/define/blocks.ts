/** What tools and prompts of a small server return: texts, and resources of the same mount. */
import { lastingFailure, quote } from "../errors.ts";
import type { Call } from "../resources.ts";
import type { Address, Entry, Source, SourceBlock } from "../source.ts";
import type { DefinedTemplate } from "./template.ts";

interface LinkTo extends Pick<Entry, "title" | "description"> {
  readonly linkTo: Address;
}

interface EmbeddedFrom {
  readonly embedFrom: Address;
}

/** A text, a link to a resource, a resource with its content, or a block of another kind. */
export type DefinedBlock = string | LinkTo | EmbeddedFrom | SourceBlock;

/** A path of the same mount as it is in `texts`, or the address of a resource of a template (`forecast.at({ city })`). */
export type DefinedAddress = string | Address;

/** A link to a resource of the same mount. A caller who may not see it gets a note instead. */
export function link(to: DefinedAddress, about: Pick<Entry, "title" | "description"> = {}): DefinedBlock {
  return { ...about, linkTo: toAddress(to) };
}

/** A resource of the same mount with its content. */
export function embed(from: DefinedAddress): DefinedBlock {
  return { embedFrom: toAddress(from) };
}

export function toAddress(to: DefinedAddress): Address {
  return typeof to === "string" ? { path: to } : to;
}

export interface BlockResolver {
  /** Whether a text or a template is there. */
  knows(at: Address): boolean;
  resolve(block: DefinedBlock, call: Call): Promise<readonly SourceBlock[]>;
}

export function createBlockResolver(
  source: Source,
  hasText: (path: string) => boolean,
  templates: readonly DefinedTemplate[],
): BlockResolver {
  const isText = ({ path, query }: Address): boolean => hasText(path) && Object.keys(query ?? {}).length === 0;
  const templateOf = (at: Address) => templates.find((each) => each.matches(at));

  async function entryAt(at: Address, call: Call): Promise<Entry> {
    if (isText(at)) return (await source.stat?.(at, call)) ?? at;
    const found = templateOf(at);
    if (!found) throw unknownAddress(at);
    // The content is not read for a link.
    const { description, mimeType } = found;
    return { ...at, ...(description !== undefined && { description }), ...(mimeType !== undefined && { mimeType }) };
  }

  return {
    knows: (at) => isText(at) || templateOf(at) !== undefined,

    async resolve(block, call) {
      if (typeof block === "string") return [{ type: "text", text: block }];
      if ("linkTo" in block) {
        const { linkTo, ...about } = block;
        return [{ type: "link", entry: { ...(await entryAt(linkTo, call)), ...about } }];
      }
      if (!("embedFrom" in block)) return [block];
      const at = block.embedFrom;
      if (!isText(at) && !templateOf(at)) throw unknownAddress(at);
      return (await source.read(at, call)).map((part) => ({ type: "embedded", part: { ...part, at } }));
    },
  };
}

/** A fault of the program. */
export function unknownAddress({ path }: Address): Error {
  const hint = path.includes("?") ? "; for a query, use `at` of the template" : "";
  return lastingFailure(`${quote(path)} is no text and matches no template of this mount${hint}`);
}
