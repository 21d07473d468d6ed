/** Formats the metadata of a resource, short and long. */
import { formatBytes } from "../lib/format-bytes.ts";
import { estimateTokensOf } from "../lib/estimate-tokens.ts";
import type { Resource } from "../resources.ts";
import { ago, type Language, type PickerTexts } from "./texts.ts";
import type { Chosen, TokenCount } from "./tray.ts";
import { isFolder } from "./tree.ts";

interface ResourceFact {
  readonly kind: "priority" | "fresh" | "size" | "cost";
  readonly short: string;
  readonly long: string;
}

/** `counted` is the counted number of tokens; otherwise it is estimated from the size and the type. */
export function resourceFactsOf(
  resource: Resource,
  counted: Chosen["tokens"],
  now: number,
  { texts, code }: Language,
): readonly ResourceFact[] {
  const { size, annotations = {} } = resource;
  const tokens = counted ?? estimateTokensOf(resource);
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
  if (tokens !== undefined && tokens !== "none") {
    const cost = typeof tokens === "number" ? { count: tokens, isExact: false } : tokens;
    facts.push({
      kind: "cost",
      // The unit is in the head of the column.
      short: markedTokens(cost, { tokens: (count) => count }, compact(code)),
      long: markedTokens(cost, texts, numberIn(code)),
    });
  }
  return facts;
}

/** An estimate is marked. */
export function markedTokens(
  { count, isExact }: TokenCount,
  { tokens }: Pick<PickerTexts, "tokens">,
  format: Intl.NumberFormat,
): string {
  return `${isExact ? "" : "≈ "}${tokens(format.format(count))}`;
}

const numbers = new Map<string, Intl.NumberFormat>();
const compacts = new Map<string, Intl.NumberFormat>();

/** Cached, because rows are drawn at every step of a scroll. */
function numberIn(code: string): Intl.NumberFormat {
  return cached(numbers, code, () => new Intl.NumberFormat(code));
}

/** At most three digits and a unit; without a unit, all digits. */
export function compact(code: string): Intl.NumberFormat {
  const digits = {
    maximumSignificantDigits: 3,
    maximumFractionDigits: 0,
    roundingPriority: "morePrecision",
  } as const;
  return cached(compacts, code, () => new Intl.NumberFormat(code, { notation: "compact", ...digits }));
}

function cached<T>(all: Map<string, T>, code: string, make: () => T): T {
  const known = all.get(code) ?? make();
  all.set(code, known);
  return known;
}
