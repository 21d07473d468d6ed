/** How often a model reads the right resource, by the form in which the server is shown to it. */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { evaluate } from "./evaluate.ts";
import { endpointOf, missing } from "./endpoint.ts";
import { type FormName, formNames } from "./forms.ts";
import { summarize, table } from "./report.ts";
import { startStandIn } from "./stand-in.ts";
import { tasks } from "./tasks.ts";
import { openShop } from "./visit.ts";

const { values } = parseArgs({
  options: {
    form: { type: "string", multiple: true, default: [] },
    task: { type: "string", multiple: true, default: [] },
    repeat: { type: "string", default: "1" },
    turns: { type: "string", default: "8" },
    json: { type: "string" },
    "stand-in": { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  console.log(`node bench/activation/run.ts [--form FORM]… [--task TASK]… [--repeat N] [--turns N] [--json FILE] [--stand-in]

--form      ${formNames.join(", ")}; all unless said
--task      ${tasks.map(({ name }) => name).join(", ")}; all unless said
--repeat    how often each task is asked in each form (1)
--turns     how often the model may speak for a task (8)
--json      where to write every trial
--stand-in  asks a script in place of a model, to see that everything works

${missing}`);
  process.exit(0);
}

const forms = formNames.filter((form) => values.form.length === 0 || values.form.includes(form));
const chosen = tasks.filter(({ name }) => values.task.length === 0 || values.task.includes(name));
const [repeat, turns] = [Number(values.repeat), Number(values.turns)];
refuse(
  values.form.find((form) => !formNames.includes(form as FormName)),
  "form",
);
refuse(
  values.task.find((task) => !tasks.some(({ name }) => name === task)),
  "task",
);
if (!(Number.isInteger(repeat) && repeat >= 1 && Number.isInteger(turns) && turns >= 1))
  throw new Error("--repeat and --turns are whole numbers from 1");

await using standIn = values["stand-in"] ? await startStandIn({ key: "stand-in" }) : undefined;
const endpoint = standIn
  ? { dialect: "openai" as const, url: standIn.urls.openai, model: "stand-in", key: "stand-in" }
  : endpointOf(process.env);
if (!endpoint) {
  console.error(`No model to ask. ${missing}`);
  process.exitCode = 2;
} else {
  await using shop = await openShop();
  if (!shop.isSearchable) console.error("Not everything can be searched yet: forms with tools will find less.");
  const trials = await evaluate({
    endpoint,
    shop,
    forms,
    tasks: chosen,
    repeat,
    turns,
    done: ({ form, task, isRight, isAnswered, reads, failure }) =>
      console.error(
        `${form} ${task}: ${failure ?? `${isRight ? "read" : "did not read"} the right one, ${isAnswered ? "right" : "wrong"} answer`} (${reads.join(", ") || "nothing read"})`,
      ),
  });
  const summary = summarize(trials);
  console.log(`\n${endpoint.model}, ${chosen.length} tasks\n\n${table(summary)}`);
  if (values.json !== undefined)
    await writeFile(
      values.json,
      `${JSON.stringify({ model: endpoint.model, dialect: endpoint.dialect, repeat, turns, summary, trials }, undefined, 2)}\n`,
    );
  if (trials.some(({ failure }) => failure !== undefined)) process.exitCode = 1;
}

function refuse(unknown: string | undefined, what: string): void {
  if (unknown !== undefined) throw new Error(`there is no ${what} ${JSON.stringify(unknown)}; see --help`);
}
