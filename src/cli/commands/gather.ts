/** `pressmark gather`: gathers the passages that a task needs. */
import type { PackFormat } from "../../context/pack.ts";
import { defineCommand, flag, listFlag, many, textFlag, UsageError } from "../command.ts";
import { withReadingContext, readingFlags } from "../reading/reading-context.ts";
import { bringUpToDate } from "../reading/indexing.ts";
import { budgetFlag, printPack } from "../reading/print-pack.ts";

export default defineCommand({
  name: "gather",
  summary: "Gather the passages that a task needs, within a token budget",
  more: `Finds the passages that a task needs, in any language, and prints them as one text for a model: each with its URI and lines, within the token budget. The receipt on standard error lists what was included and why, and what was left out. Secrets are masked and invisible characters removed. With --json passages and receipt are one object. The exit code is 3 if nothing is found.`,
  examples: [
    'pressmark gather "retry with backoff when the index is locked"',
    "pressmark gather 検索の並び順を直す --within src > context.md",
    'pressmark gather "explain the login flow" --include docs/auth.md --xml',
    'pressmark gather "add a source" --include set://onboarding',
    'pressmark gather "rename maxBytes" --json | jq .receipt',
  ],
  takes: { task: many("Task, in your own words") },
  flags: {
    budget: budgetFlag,
    include: listFlag("WHERE", "Always include this first: a URI, a path, or set://NAME; may be repeated", "files"),
    within: textFlag("WHERE", "Search only in this directory (URI or path)", "folders"),
    markdown: flag("Print Markdown. This is the default"),
    xml: flag("Print XML"),
    json: flag("Print one JSON object: the passages and the receipt"),
    "no-wait": flag("Use the index as it is, without updating it first"),
    ...readingFlags,
  },
  async run({ task: words, flags }, world) {
    const task = words.join(" ").trim();
    if (task === "") throw new UsageError('name the task, as in: pressmark gather "retry with backoff"');
    const [format = "markdown", ...others] = formats.filter((one) => flags[one]);
    if (others.length > 0) throw new UsageError(`choose --${format} or --${others[0]}, not both`);
    await withReadingContext(flags, world, async (context) => {
      const within = flags.within === undefined ? undefined : await context.locate(flags.within);
      const include: string[] = [];
      for (const where of flags.include) include.push(await context.locate(where));
      if (!flags["no-wait"]) await bringUpToDate(context);
      const ask = { task, budget: flags.budget, format, include, within };
      await printPack(ask, context);
    });
  },
});

const formats = ["markdown", "xml", "json"] as const satisfies readonly PackFormat[];
