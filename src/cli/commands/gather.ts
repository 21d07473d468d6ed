/** `pressmark gather`: gathers the passages that a task needs. */
import type { PackFormat } from "../../context/pack.ts";
import { defineCommand, flag, listFlag, many, optionalTextFlag, textFlag, UsageError } from "../command.ts";
import { type ReadingContext, withReadingContext, readingFlags } from "../reading/reading-context.ts";
import { bringUpToDate, useAsIs } from "../reading/indexing.ts";
import { budgetFlag, printPack } from "../reading/print-pack.ts";

export default defineCommand({
  name: "gather",
  summary: "Gather the passages that a task needs, within a token budget",
  more: `Finds the passages that a task needs, in any language, and prints them as one text for a model: each with its path and lines, within the token budget. The receipt on standard error lists what was included and why, and what was left out. Secrets are masked and invisible characters removed. With --changed it gathers what a branch has changed and what that touches, for a review; a single word that names a branch, tag or commit is then the base. With --json passages and receipt are one object. The exit code is 3 if nothing is found, or nothing has changed.`,
  examples: [
    'pressmark gather "retry with backoff when the index is locked"',
    "pressmark gather 検索の並び順を直す --within src > context.md",
    'pressmark gather "explain the login flow" --include docs/auth.md --xml',
    'pressmark gather "add a source" --include set://onboarding',
    'pressmark gather "rename maxBytes" --json | jq .receipt',
    "pressmark gather --changed",
    'pressmark gather --changed=release "does it still retry?"',
  ],
  takes: { task: many("Task, in your own words") },
  flags: {
    changed: optionalTextFlag(
      "BASE",
      "Gather what the checkout has changed since it left BASE, committed or not, and what that touches; the task is optional. Default of BASE: origin/HEAD, main or master",
    ),
    budget: budgetFlag,
    include: listFlag("WHERE", "Always include this first: a URI, a path, or set://NAME; may be repeated", "files"),
    within: textFlag("WHERE", "Search only in this directory (URI or path)", "folders"),
    markdown: flag("Print Markdown. This is the default"),
    xml: flag("Print XML"),
    json: flag("Print one JSON object: the passages and the receipt"),
    exact: flag("Count tokens as o200k does. Default: an estimate, which is rather too high and takes no time to load"),
    "no-wait": flag("Use the index as it is, without updating it first"),
    ...readingFlags,
  },
  async run({ task: words, flags }, world) {
    const task = words.join(" ").trim();
    if (task === "" && flags.changed === undefined)
      throw new UsageError('name the task, as in: pressmark gather "retry with backoff"');
    const [format = "markdown", ...others] = formats.filter((one) => flags[one]);
    if (others.length > 0) throw new UsageError(`choose --${format} or --${others[0]}, not both`);
    await withReadingContext(flags, world, async (context) => {
      const within = flags.within === undefined ? undefined : await context.locate(flags.within);
      const include: string[] = [];
      for (const where of flags.include) include.push(await context.locate(where));
      await (flags["no-wait"] ? useAsIs : bringUpToDate)(context);
      const isOnlyBase = flags.changed === true && words.length === 1 && (await mayBeBase(task, context));
      const asked = isOnlyBase ? { changed: task } : { changed: flags.changed, task: task === "" ? undefined : task };
      const counter = flags.exact ? "best" : "estimate";
      await printPack({ ...asked, budget: flags.budget, format, include, within, counter }, context);
    });
  },
});

async function mayBeBase(word: string, { resources, call }: ReadingContext): Promise<boolean> {
  const { isBase } = await import("../../context/changed.ts");
  return isBase(resources, word, call);
}

const formats = ["markdown", "xml", "json"] as const satisfies readonly PackFormat[];
