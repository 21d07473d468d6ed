/** Templates of another server as templates here, such that what they expand to leads back. */
import type { Template } from "../../resources.ts";
import type { SourceTemplate } from "../../source.ts";
import { encodeSegment, skillHead } from "./addresses.ts";

/** The scheme and the server, in which only plain variables may stand. */
const headOf = /^[a-z][a-z0-9+.-]*:(?:\/\/)?(?:[^/{?#]|\{[a-z0-9_%.]+\})*/i;

/** Undefined for what cannot be said here: a variable scheme, or a fragment. */
export function toSourceTemplate({ uriTemplate, ...said }: Template): SourceTemplate | undefined {
  const isSkill = uriTemplate.startsWith(skillHead);
  const head = isSkill ? skillHead : headOf.exec(uriTemplate)?.[0];
  const rest = head === undefined ? "" : (isSkill ? "/" : "") + uriTemplate.slice(head.length);
  if (head === undefined || rest.includes("#") || rest.startsWith("{+") || rest.startsWith("{.")) return undefined;
  const spelled = head
    .split(/(\{[^{}]*\})/)
    .map((piece) => (piece.startsWith("{") ? piece : encodeSegment(piece)))
    .join("");
  return { template: spelled + rest, ...said };
}
