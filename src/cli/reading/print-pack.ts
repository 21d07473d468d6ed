/** Prints a pack on standard output and its receipt on standard error, for `gather` and `pick`. */
import { ResourceError } from "../../errors.ts";
import type { GatherRequest } from "../../context/gather.ts";
import type { Included, Pack } from "../../context/pack.ts";
import { createShownPaths } from "../../context/shown-paths.ts";
import { defaultBudget } from "../../lib/pack-budget.ts";
import { sayFailures } from "../../lib/say-failures.ts";
import { valueFlag, wholeNumber } from "../command.ts";
import { jsonLine, plain } from "../print.ts";
import type { ReadingContext } from "./reading-context.ts";
import { formatCount, grouped } from "./amounts.ts";
import { formatPercent } from "./indexing.ts";

export const budgetFlag = valueFlag("TOKENS", "Maximum number of tokens", {
  initial: defaultBudget,
  initially: grouped(defaultBudget),
  short: "b",
  parse: wholeNumber(1),
});

/** The full list is in --json. */
const shownLeftOut = 8;

export async function printPack(
  ask: GatherRequest,
  { resources, roots, call, print, warn }: ReadingContext,
): Promise<void> {
  const { gather } = await import("../../context/gather.ts");
  const bases = roots.map(({ base }) => base);
  const pack: Pack = await gather(resources, { ...ask, roots: bases }, call);
  const { receipt, items, format, text } = pack;
  if (ask.counter === "best" && receipt.counter === "estimate")
    warn("tokens are estimated: the file dist/o200k_base.br is missing or damaged; install Pressmark again");
  const shown = [...receipt.included, ...receipt.leftOut].map(({ uri }) => uri);
  const { pathOf } = createShownPaths(shown, pack.base);
  if (receipt.ready !== undefined && receipt.ready < 1)
    warn(`${formatPercent(receipt.ready)} of the resources are indexed; there may be more results`);
  for (const problem of sayFailures(receipt.failures ?? [])) warn(`mount ${plain(problem)}`);
  if (format === "json") await print(jsonLine({ passages: items, receipt }));
  else {
    await print(text);
    if (receipt.changed) {
      const { files, isMore, base } = receipt.changed;
      warn(plain(`${isMore ? "more than " : ""}${formatCount(files, "file")} changed since ${base}`));
    }
    for (const item of receipt.included) warn(sayIncluded(item, pathOf(item.uri)));
    for (const { uri, why } of receipt.leftOut.slice(0, shownLeftOut)) warn(plain(`left out: ${pathOf(uri)} ${why}`));
    const more = receipt.leftOut.length - Math.min(shownLeftOut, receipt.leftOut.length) + receipt.moreLeftOut;
    if (more > 0) warn(`${more} more left out`);
    const spent = `${grouped(receipt.tokens)} of ${formatCount(receipt.budget, "token")} (${receipt.counter})`;
    warn(receipt.hasAllRelevant ? `${spent}; nothing else is relevant enough` : spent);
  }
  if (items.length > 0) return;
  const what = ask.task === undefined ? "none of the resources is readable text" : "nothing found for this task";
  throw new ResourceError("not-found", `${what}, or nothing fits into the budget`);
}

function sayIncluded({ lines: [first, last], tokens, why, masked, removed }: Included, path: string): string {
  const cleaned = [
    ...(masked === undefined ? [] : [`${masked} masked`]),
    ...(removed === undefined ? [] : [`${removed} invisible removed`]),
  ];
  return plain(`${path}:${first}-${last} (${[`${tokens} tokens`, ...cleaned].join(", ")}): ${why.join("; ")}`);
}
