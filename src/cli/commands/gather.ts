/** `pressmark gather`: what a task needs, out of all that there is. */
import type { PackFormat } from "../../context/pack.ts";
import { defineCommand, flag, listFlag, many, UsageError, valueFlag } from "../command.ts";
import { withReadingContext, readingFlags } from "../reading/reading-context.ts";
import { bringUpToDate } from "../reading/indexing.ts";
import { budgetFlag, printPack } from "../reading/print-pack.ts";

export default defineCommand({
  name: "gather",
  summary: "Gather what a task needs, within a budget of tokens",
  more: `Finds the passages that a task needs, in any language, and prints them as one text for a model: each with its URI and lines, never more tokens than the budget. Standard error is given the receipt: what is in and why, and what was left out. Secrets are masked and invisible characters removed. With --json both are one object. The exit code is 3 if nothing is found.`,
  examples: [
    'pressmark gather "retry with backoff when the index is locked" --budget 8000',
    "pressmark gather 検索の並び順を直す --within src > context.md",
    'pressmark gather "explain the login flow" --include docs/auth.md --xml',
    'pressmark gather "add a source" --include set://onboarding',
    'pressmark gather "rename maxBytes" --json | jq .receipt',
  ],
  takes: { task: many("what is to be done") },
  flags: {
    budget: budgetFlag,
    include: listFlag(
      "WHERE",
      "put this in first, whatever it says: its URI, its path, or set://NAME; may be given again",
      "files",
    ),
    within: valueFlag<string | undefined>("WHERE", "search only in this directory: its URI, or its path", {
      initial: undefined,
      offer: "folders",
      parse: (text) => text,
    }),
    markdown: flag("print Markdown, as it does unless told otherwise"),
    xml: flag("print XML"),
    json: flag("print one JSON object: the passages and the receipt"),
    "no-wait": flag("gather from what is indexed already"),
    ...readingFlags,
  },
  async run({ task: words, flags }, world) {
    const task = words.join(" ").trim();
    if (task === "") throw new UsageError('say what is to be done, as in: pressmark gather "retry with backoff"');
    const [format = "markdown", ...others] = formats.filter((one) => flags[one]);
    if (others.length > 0) throw new UsageError(`say --${format} or --${others[0]}, not both`);
    await withReadingContext(flags, world, async (context) => {
      const within = flags.within === undefined ? undefined : await context.locate(flags.within);
      const include: string[] = [];
      for (const where of flags.include) include.push(await context.locate(where));
      if (!flags["no-wait"]) await bringUpToDate(context);
      const ask = { task, budget: flags.budget, format, include, ...(within !== undefined && { within }) };
      await printPack(ask, context);
    });
  },
});

const formats = ["markdown", "xml", "json"] as const satisfies readonly PackFormat[];
