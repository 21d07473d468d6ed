/** `pressmark complete`: suggests values for a variable of a template. */
import { defineCommand, flag, listFlag, optional, UsageError } from "../command.ts";
import { jsonLine, plain } from "../print.ts";
import { formatCount } from "../reading/amounts.ts";
import { pagesOf } from "../reading/pages.ts";
import { withReadingContext, type ReadingContext, readingFlags } from "../reading/reading-context.ts";
import { invalid, quote, ResourceError } from "../../errors.ts";
import { nearest } from "../../lib/nearest.ts";
import type { Template } from "../../resources.ts";

export default defineCommand({
  name: "complete",
  summary: "Suggest values for a variable of a URI template",
  more: "Write the template as the server lists it; without arguments, the templates are listed. --given sets other variables, which may narrow the suggestions. Prints one value per line; prints nothing if nothing matches.",
  examples: [
    "pressmark complete",
    `pressmark complete 'file:///home/me/notes/{+path}{?lines,bytes,as}' path do`,
    `pressmark complete 'git://notes/blob/{ref}{/path*}{?lines,bytes}' path src/ --given ref=main`,
  ],
  takes: {
    template: optional("Template, as the server lists it"),
    variable: optional("Name of the variable"),
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
      if (template === undefined) return listTemplates(flags.json, context);
      await checkTemplate(template, context);
      const variables = variablesOf(template);
      const named = variables.map((each) => quote(each)).join(", ") || "none";
      if (variable === undefined) throw new UsageError(`name a variable of the template; it has ${named}`);
      // A URI stands for the template that it fits.
      if (template.includes("{") && !variables.includes(variable))
        throw new UsageError(`the template has no variable ${quote(variable, 60)}; it has ${named}`);
      const answer = await context.resources.complete({ template, variable, value, given }, context.call);
      const { values, total, more = false } = answer;
      if (flags.json) return context.print(jsonLine({ values, total, more }));
      await context.print(values.map((each) => `${plain(each)}\n`).join(""));
      if (more) context.warn(`only the first ${formatCount(values.length, "value")} are shown; type more letters`);
    });
  },
});

async function listTemplates(isJson: boolean, context: ReadingContext): Promise<void> {
  let isEmpty = true;
  for await (const page of templatesOf(context)) {
    isEmpty &&= page.length === 0;
    await context.print(page.map((each) => (isJson ? jsonLine(each) : `${plain(each.uriTemplate)}\n`)).join(""));
  }
  if (isEmpty) throw new ResourceError("not-found", noTemplates);
}

const noTemplates = `nothing that is served has a template; "pressmark ls --all" lists the resources`;

function templatesOf({ resources, call, ...options }: ReadingContext): AsyncGenerator<readonly Template[]> {
  return pagesOf((page) => resources.templates(page, call), options);
}

/** Throws "invalid" with the nearest template if there is no such one. */
async function checkTemplate(template: string, context: ReadingContext): Promise<void> {
  const known: string[] = [];
  for await (const page of templatesOf(context)) for (const each of page) known.push(each.uriTemplate);
  const isUri = template.includes(":") && !template.includes("{");
  if (known.includes(template) || (isUri && known.length > 0)) return;
  if (known.length === 0) throw invalid(noTemplates);
  const near = nearestTemplate(template, known);
  throw invalid(
    `no template ${quote(template)}; ${near === undefined ? "" : `did you mean ${quote(near)}? `}"pressmark complete" lists all templates`,
  );
}

/** The one with the same beginning, without its last variables; else a similar one. */
function nearestTemplate(template: string, known: readonly string[]): string | undefined {
  return known.find((each) => each.startsWith(template) || template.startsWith(each)) ?? nearest(template, known);
}

/** Names of the variables of a template: `{+path}{?lines,bytes}` has three. */
function variablesOf(template: string): string[] {
  return [...template.matchAll(/\{[+#./;?&]?([^{}]*)\}/g)].flatMap(([, list = ""]) =>
    list.split(",").map((name) => name.replace(/(?:\*|:\d+)$/, "")),
  );
}

function toGiven(pairs: readonly string[]): Record<string, string> {
  const given: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const pair of pairs) {
    const equals = pair.indexOf("=");
    if (equals < 1) throw new UsageError(`--given takes a name and a value, as in ref=main, not ${quote(pair, 40)}`);
    given[pair.slice(0, equals)] = pair.slice(equals + 1);
  }
  return given;
}
