/** `pressmark complete`: what may stand for a variable of a template. */
import { defineCommand, flag, listFlag, one, optional, UsageError } from "../command.ts";
import { jsonLine, plain } from "../print.ts";
import { formatCount } from "../reading/amounts.ts";
import { withReadingContext, readingFlags } from "../reading/reading-context.ts";
import { quote } from "../../errors.ts";

export default defineCommand({
  name: "complete",
  summary: "Suggest what may stand for a variable of a template",
  more: "The template is written as the house lists it. What is settled for other variables is said with --given, which may narrow down the suggestions. A pipe is given one value a line; nothing is printed where nothing fits.",
  examples: [
    `pressmark complete 'file:///home/me/notes/{+path}{?lines,bytes,as}' path do`,
    `pressmark complete 'git://notes/blob/{ref}{/path*}' path src/ --given ref=main`,
  ],
  takes: {
    template: one("the template, as it is listed"),
    variable: one("the variable's name"),
    value: optional("what has been typed of its value so far"),
  },
  flags: {
    given: listFlag("NAME=VALUE", "what another variable stands for; may be given again"),
    json: flag("one JSON object, with how many there are"),
    ...readingFlags,
  },
  async run({ template, variable, value = "", flags }, world) {
    const given = toGiven(flags.given);
    await withReadingContext(flags, world, async (context) => {
      const answer = await context.resources.complete({ template, variable, value, given }, context.call);
      const { values, total, more = false } = answer;
      if (flags.json) return context.print(jsonLine({ values, total, more }));
      await context.print(values.map((each) => `${plain(each)}\n`).join(""));
      if (more) context.warn(`there are more than these ${formatCount(values.length, "value")}; type more of it`);
    });
  },
});

function toGiven(pairs: readonly string[]): Record<string, string> {
  const given: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const pair of pairs) {
    const equals = pair.indexOf("=");
    if (equals < 1) throw new UsageError(`--given takes a name and a value, as in ref=main, not ${quote(pair, 40)}`);
    given[pair.slice(0, equals)] = pair.slice(equals + 1);
  }
  return given;
}
