/** Translates templates of another server, so that their expansions can be translated back. */
import { encodeSegment } from "../../lib/encode-path.ts";
import type { Template } from "../../resources.ts";
import type { SourceTemplate } from "../../source.ts";
import { skillHead } from "./addresses.ts";

/** The scheme and host, which may contain only simple variables. */
const headOf = /^[a-z][a-z0-9+.-]*:(?:\/\/)?(?:[^/{?#]|\{[a-z0-9_%.]+\})*/i;

/** Undefined if our templates cannot express it: a variable scheme, or a fragment. */
export function toSourceTemplate({ uriTemplate, ...metadata }: Template): SourceTemplate | undefined {
  const isSkill = uriTemplate.startsWith(skillHead);
  const head = isSkill ? skillHead : headOf.exec(uriTemplate)?.[0];
  const rest = head === undefined ? "" : (isSkill ? "/" : "") + uriTemplate.slice(head.length);
  if (head === undefined || rest.includes("#") || rest.startsWith("{+") || rest.startsWith("{.")) return undefined;
  const encoded = head
    .split(/(\{[^{}]*\})/)
    .map((piece) => (piece.startsWith("{") ? piece : encodeSegment(piece)))
    .join("");
  return { template: encoded + rest, ...metadata };
}
