/** Removes locations from the text of a backend: addresses, hosts with ports, URLs and absolute paths. */
import { isIP } from "node:net";
import { cutAt } from "./cut-at.ts";

const hidden = "…";
/** Text between blanks, quotation marks, brackets and punctuation. */
const word = /[^\s"'`<>(),;]{2,}/g;
/** Names in private networks. */
const ownNetwork = /\.(?:internal|local|lan|home|corp|intranet|private|localdomain|invalid|svc)$/i;

export function withoutPlaces(text: string): string {
  return text.replaceAll(word, (found) => {
    let end = found.length;
    while (end > 0 && ".:!?".includes(found.charAt(end - 1))) end -= 1;
    // As in "host=db:5432".
    const start = found.includes("://") ? 0 : found.lastIndexOf("=", end) + 1;
    return isPlace(found.slice(start, end)) ? found.slice(0, start) + hidden + found.slice(end) : found;
  });
}

function isPlace(text: string): boolean {
  if (text.includes("://") || isIP(text) !== 0) return true;
  // A path has a second separator; a single one may be punctuation.
  if (/^(?:[/\\]|[a-z]:[/\\])[^/\\]+[/\\]/i.test(text)) return true;
  if (/^[a-z]:[/\\]./i.test(text)) return true;
  const [, host = "", port] = /^(\[[^\]]*\]|[^:[\]]*)(?::(\d{2,5}))?$/.exec(text) ?? [];
  const name = host.replace(/^\[|\]$/g, "");
  if (isIP(name) !== 0 || (host.startsWith("[") && isIP(cutAt(name, /%/)) !== 0)) return true;
  if (!/^[a-z0-9][\w.-]*$/i.test(name) || /^[\d.]+$/.test(name)) return false;
  return (port !== undefined && /^[a-z]/i.test(name)) || ownNetwork.test(name) || name.split(".").length > 2;
}
