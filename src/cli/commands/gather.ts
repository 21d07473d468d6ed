/** `pressmark gather`: what a task needs, out of all that there is. */
import { ResourceError } from "../../errors.ts";
import type { Included, Pack, PackFormat } from "../../context/pack.ts";
import { defineCommand, flag, listFlag, many, UsageError, valueFlag, wholeNumber } from "../command.ts";
import { jsonLine, plain } from "../print.ts";
import { atDesk, type Desk, deskFlags } from "../reading/desk.ts";
import { bringUpToDate, percent } from "../reading/indexing.ts";

export default defineCommand({
  name: "gather",
  summary: "Gather what a task needs, within a budget of tokens",
  more: `Finds the passages that a task needs, in any language, and prints them as one text for a model: each with its URI and lines, never more tokens than the budget. Standard error is given the receipt: what is in and why, and what was left out. Secrets are masked and invisible characters removed. With --json both are one object. The exit code is 3 if nothing is found.`,
  examples: [
    'pressmark gather "retry with backoff when the index is locked" --budget 8000',
    "pressmark gather 検索の並び順を直す --within src > context.md",
    'pressmark gather "explain the login flow" --include docs/auth.md --xml',
    'pressmark gather "rename maxBytes" --json | jq .receipt',
  ],
  takes: { task: many("what is to be done") },
  flags: {
    budget: valueFlag<number>("TOKENS", "the most that the text may have", {
      initial: 8000,
      initially: "8000",
      short: "b",
      parse: wholeNumber(1),
    }),
    include: listFlag(
      "WHERE",
      "put this in first, whatever it says: its URI, or its path; may be given again",
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
    ...deskFlags,
  },
  async run({ task: words, flags }, world) {
    const task = words.join(" ").trim();
    if (task === "") throw new UsageError('say what is to be done, as in: pressmark gather "retry with backoff"');
    const [format = "markdown", ...others] = formats.filter((one) => flags[one]);
    if (others.length > 0) throw new UsageError(`say --${format} or --${others[0]}, not both`);
    await atDesk(flags, world, async (desk) => {
      const within = flags.within === undefined ? undefined : await desk.locate(flags.within);
      const include: string[] = [];
      for (const where of flags.include) include.push(await desk.locate(where));
      if (!flags["no-wait"]) await bringUpToDate(desk);
      const [{ gather }, { bestCounter }] = await Promise.all([
        import("../../context/gather.ts"),
        import("../../context/count-tokens.ts"),
      ]);
      const counter = await bestCounter();
      const ask = { task, budget: flags.budget, format, include, counter, ...(within !== undefined && { within }) };
      const pack = await gather(desk.resources, ask, desk.call);
      await print(pack, desk);
    });
  },
});

const formats = ["markdown", "xml", "json"] as const satisfies readonly PackFormat[];

async function print(pack: Pack, { print: write, warn }: Desk): Promise<void> {
  const { receipt, items, format, text } = pack;
  if (receipt.ready !== undefined && receipt.ready < 1)
    warn(`${percent(receipt.ready)} of what there is could be searched; there may be more to find`);
  if (format === "json") await write(jsonLine({ passages: items, receipt }));
  else {
    await write(text);
    for (const item of receipt.included) warn(sayIncluded(item));
    for (const { uri, why } of receipt.leftOut.slice(0, shownLeftOut)) warn(`left out: ${plain(uri)} ${why}`);
    const more = receipt.leftOut.length - Math.min(shownLeftOut, receipt.leftOut.length) + receipt.moreLeftOut;
    if (more > 0) warn(`${more} more left out`);
    warn(`${receipt.tokens} of ${receipt.budget} tokens (${receipt.counter})`);
  }
  if (items.length === 0)
    throw new ResourceError("not-found", "nothing is found for this task, or nothing fits into the budget");
}

/** The rest is in --json. */
const shownLeftOut = 8;

function sayIncluded({ uri, lines: [first, last], tokens, why, masked, removed }: Included): string {
  const cleaned = [
    ...(masked === undefined ? [] : [`${masked} masked`]),
    ...(removed === undefined ? [] : [`${removed} invisible removed`]),
  ];
  return plain(`${uri}:${first}-${last} (${[`${tokens} tokens`, ...cleaned].join(", ")}): ${why.join("; ")}`);
}
