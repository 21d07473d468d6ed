/** `pressmark search`: searches the index. */
import { quote, ResourceError } from "../../errors.ts";
import { ownTitle } from "../../lib/own-title.ts";
import { sayFailures } from "../../lib/say-failures.ts";
import { splitHits } from "../../lib/split-hits.ts";
import type { Hit } from "../../resources.ts";
import { defineCommand, flag, many, textFlag, UsageError, valueFlag, wholeNumber } from "../command.ts";
import type { ExitCode } from "../exit-codes.ts";
import { jsonLine, plain } from "../print.ts";
import { withReadingContext, type ReadingContext, readingFlags } from "../reading/reading-context.ts";
import { bringUpToDate, formatPercent, useAsIs } from "../reading/indexing.ts";
import { lineOf } from "../reading/line-of.ts";
import { locationOf } from "../reading/location-of.ts";
import { snippetLines } from "../reading/snippet.ts";

export default defineCommand({
  name: "search",
  summary: "Search resources by their text",
  more: `Prints matches first, the best at the top, each with its passage and line; then, after "similar:", results that contain only a part of what was searched for. Into a pipe it prints one line per match: path, line, text; similar results only if nothing matches, or with --similar. "A phrase" in quotes must occur exactly, -word must not occur; path:, mime:, source:, lang:, after:, priority: and audience: filter the results. Updates the index first. "pressmark read" accepts the printed paths. The exit code is 0 if something matches. Without a match it is 3, also if similar results are printed, and 1 if some mounts could not be searched.`,
  examples: [
    "pressmark search retry backoff",
    "pressmark search パスワード 再設定 --limit 3",
    `pressmark search '"connection refused" path:docs -draft'`,
    "pressmark search getUserName --within src --json | jq -r .resource.uri",
  ],
  takes: { words: many("Words to search for") },
  flags: {
    limit: valueFlag("NUMBER", "Maximum number of results", {
      initial: 10,
      initially: "10",
      short: "n",
      parse: wholeNumber(1),
    }),
    within: textFlag("WHERE", "Search only in this directory (URI or path)", "folders"),
    "no-wait": flag("Use the index as it is, without updating it first"),
    similar: flag("Print similar results after the matches into a pipe, too"),
    json: flag("Print one JSON object per line, also for similar results"),
    ...readingFlags,
  },
  async run({ words, flags }, world) {
    const text = words.join(" ").trim();
    if (text === "") throw new UsageError("name what to search for, as in: pressmark search retry backoff");
    let exitCode: ExitCode = 0;
    await withReadingContext(flags, world, async (context) => {
      const within = flags.within === undefined ? undefined : await context.locate(flags.within);
      const reported = await (flags["no-wait"] ? useAsIs : bringUpToDate)(context);
      const ask = { text, limit: flags.limit, within };
      const { hits, ready, failures = [] } = await context.resources.search(ask, context.call);
      for (const problem of sayFailures(failures.filter(({ mount }) => !reported.has(mount))))
        context.warn(`mount ${plain(problem)}`);
      if (ready < 1) context.warn(`${formatPercent(ready)} of the resources are indexed; there may be more results`);
      const isPartial = failures.length > 0;
      const but = isPartial ? ", but not everything could be searched" : "";
      if (hits.length === 0)
        throw new ResourceError(isPartial ? "unavailable" : "not-found", `no results for ${quote(text)}${but}`);
      const { matches, similar } = splitHits(hits);
      const show = context.isTerminal ? createPassages(context) : createLines(context);
      const printAll = async (some: readonly Hit[]): Promise<void> => {
        for (const hit of some)
          await context.print(flags.json ? jsonLine(hit) : show(hit, await lineAfter(hit, context)));
      };
      await printAll(matches);
      if (matches.length === 0) {
        context.warn(`no match for ${plain(quote(text))}${but}; similar:`);
        exitCode = isPartial ? 1 : 3;
      } else if (similar.length > 0 && !flags.json) {
        if (context.isTerminal) await context.print("similar:\n\n");
        else if (flags.similar) context.warn("similar:");
        // Lines in a pipe do not say whether they match.
        else return;
      }
      await printAll(similar);
    });
    return exitCode;
  },
});

type Show = (hit: Hit, line: string) => string;

/** The path and the passage below it, cut to the terminal's width. */
function createPassages({ paint, roots, width }: ReadingContext): Show {
  return (hit, line) => {
    const { resource } = hit;
    const where = paint.kind(resource.mimeType, plain(locationOf(roots, resource.uri)));
    const own = ownTitle(resource);
    const title = own === undefined ? "" : `  ${paint.faint(plain(own))}`;
    const passage = snippetLines(hit, { width: width - 4, most: 4, match: paint.match });
    return `${where}${paint.faint(line)}${title}\n${passage.map((each) => `    ${each}\n`).join("")}\n`;
  };
}

/** One line per result. */
function createLines({ paint, roots }: ReadingContext): Show {
  return (hit, line) => {
    const [text = ""] = snippetLines(hit, { width: Infinity, most: 1, match: paint.match });
    return `${plain(locationOf(roots, hit.resource.uri))}${line}:${text === "" ? "" : ` ${text}`}\n`;
  };
}

/** The line as `:12`; empty if it is unknown. */
async function lineAfter(hit: Hit, { resources, call }: ReadingContext): Promise<string> {
  const line = await lineOf(hit, resources, call);
  return line === undefined ? "" : `:${line}`;
}
