/** `pressmark complete`: suggests values for a variable of a template. */
import { defineCommand, flag, listFlag, one, optional, UsageError } from "../command.ts";
import { jsonLine, plain } from "../print.ts";
import { formatCount } from "../reading/amounts.ts";
import { withReadingContext, readingFlags } from "../reading/reading-context.ts";
import { quote } from "../../errors.ts";

export default defineCommand({
  name: "complete",
  summary: "Suggest values for a variable of a URI template",
  more: "Write the template as the server lists it. --given sets other variables, which may narrow the suggestions. Prints one value per line; prints nothing if nothing matches.",
  examples: [
    `pressmark complete 'file:///home/me/notes/{+path}{?lines,bytes,as}' path do`,
    `pressmark complete 'git://notes/blob/{ref}{/path*}' path src/ --given ref=main`,
  ],
  takes: {
    template: one("Template, as the server lists it"),
    variable: one("Name of the variable"),
    value: optional("Beginning of the value"),
  },
  flags: {
    given: listFlag("NAME=VALUE", "Value of another variable; may be repeated"),
    json: flag("Print one JSON object, with the total"),
    ...readingFlags,
  },
  async run({ template, variable, value = "", flags }, world) {
    const given = toGiven(flags.given);
    await withReadingContext(flags, world, async (context) => {
      const answer = await context.resources.complete({ template, variable, value, given }, context.call);
      const { values, total, more = false } = answer;
      if (flags.json) return context.print(jsonLine({ values, total, more }));
      await context.print(values.map((each) => `${plain(each)}\n`).join(""));
      if (more) context.warn(`only the first ${formatCount(values.length, "value")} are shown; type more letters`);
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
