/** Formats the metadata of a resource, short and long. */
import { formatBytes } from "../lib/format-bytes.ts";
import { estimateTokensOfBytes } from "../lib/estimate-tokens.ts";
import type { Resource } from "../resources.ts";
import { ago, type Language } from "./texts.ts";
import type { Chosen } from "./tray.ts";
import { isFolder } from "./tree.ts";

interface ResourceFact {
  readonly kind: "priority" | "fresh" | "size" | "cost";
  readonly short: string;
  readonly long: string;
}

/** Types without text: they cost no tokens. */
const hasNoText = /^(?:image\/(?!svg)|audio\/|video\/|font\/|application\/(?:zip|gzip|octet-stream|x-tar))/;

/** `counted` is the counted number of tokens; otherwise it is estimated from the size. */
export function resourceFactsOf(
  resource: Resource,
  counted: Chosen["tokens"],
  now: number,
  { texts, code }: Language,
): readonly ResourceFact[] {
  const { size, annotations = {}, mimeType = "" } = resource;
  const { priority, lastModified } = annotations;
  const facts: ResourceFact[] = [];
  if (priority !== undefined) {
    const formatted = numberIn(code).format(priority);
    facts.push({ kind: "priority", short: `◆${formatted}`, long: texts.priority(formatted) });
  }
  const when = lastModified === undefined ? "" : ago(lastModified, now, code);
  if (lastModified !== undefined && when !== "")
    facts.push({ kind: "fresh", short: ago(lastModified, now, code, "narrow"), long: texts.changed(when) });
  if (isFolder(resource)) return facts;
  if (size !== undefined) facts.push({ kind: "size", short: formatBytes(size), long: formatBytes(size) });
  if (typeof counted === "number") {
    const formatted = compact(code).format(counted);
    facts.push({
      kind: "cost",
      short: texts.shortTokens(formatted),
      long: texts.tokens(numberIn(code).format(counted)),
    });
  } else if (size !== undefined && counted !== "none" && !hasNoText.test(mimeType)) {
    const guess = estimateTokensOfBytes(size);
    const formatted = compact(code).format(guess);
    facts.push({
      kind: "cost",
      short: `~${texts.shortTokens(formatted)}`,
      long: texts.aboutTokens(numberIn(code).format(guess)),
    });
  }
  return facts;
}

const numbers = new Map<string, Intl.NumberFormat>();
const compacts = new Map<string, Intl.NumberFormat>();

/** Cached, because rows are drawn at every step of a scroll. */
function numberIn(code: string): Intl.NumberFormat {
  return cached(numbers, code, () => new Intl.NumberFormat(code));
}

function compact(code: string): Intl.NumberFormat {
  return cached(compacts, code, () => new Intl.NumberFormat(code, { notation: "compact", maximumFractionDigits: 1 }));
}

function cached<T>(all: Map<string, T>, code: string, make: () => T): T {
  const known = all.get(code) ?? make();
  all.set(code, known);
  return known;
}
