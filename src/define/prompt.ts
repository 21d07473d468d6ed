/** A prompt of a small server. */
import type { Call, Icon, PromptArgument } from "../resources.ts";
import { invalid, quote } from "../errors.ts";
import type { DefinedBlock } from "./blocks.ts";
import { checkFunction, checkMembers, checkRecord, checkText } from "./check-definition.ts";

/** A description, or more. */
export type DefinedArgument = string | DescribedArgument;

export interface DescribedArgument extends Pick<PromptArgument, "title" | "description"> {
  /** Suggestions for what was typed so far, best first. */
  complete?(
    value: string,
    given: Readonly<Record<string, string>>,
    call: Call,
  ): readonly string[] | null | undefined | Promise<readonly string[] | null | undefined>;
}

export interface PromptDefinition<Name extends string> {
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly Icon[];
  /** By name. With "?" after the name, as in `"days?"`, a user may leave it out. */
  readonly args?: Readonly<Record<Name, DefinedArgument>>;
  /** Arguments are texts from the user: check them. Each result is a message of the user, unless it names a role. */
  run(args: ArgumentValues<Name>, call: Call): PromptOutput | Promise<PromptOutput>;
}

/** Values of the arguments with these names. */
export type ArgumentValues<Name extends string> = {
  readonly [Each in Name as Each extends `${string}?` ? never : Each]: string;
} & { readonly [Each in Name as Each extends `${infer Optional}?` ? Optional : never]?: string };

export interface DefinedMessage {
  readonly role: "user" | "assistant";
  readonly content: DefinedBlock;
}

export type PromptOutput = DefinedBlock | DefinedMessage | readonly (DefinedBlock | DefinedMessage)[];

export interface DefinedPrompt extends Pick<PromptDefinition<string>, "title" | "description" | "icons"> {
  readonly arguments: readonly (PromptArgument & Pick<DescribedArgument, "complete">)[];
  run(args: Readonly<Record<string, string>>, call: Call): PromptOutput | Promise<PromptOutput>;
}

/** Ties the types of `args` and `run` together. */
export function prompt<const Name extends string = never>(definition: PromptDefinition<Name>): DefinedPrompt {
  checkMembers(definition, "prompt", ["title", "description", "icons", "args", "run"], "prompt({ description, run })");
  const { args = {}, run, ...about } = definition;
  checkFunction(run, '"run" of a prompt', "a function that returns a text, or a list of texts and resources");
  checkText(about.title, '"title" of a prompt');
  checkText(about.description, '"description" of a prompt');
  checkRecord(args, '"args" of a prompt', '{ city: "Where to" }');
  for (const [name, argument] of Object.entries(args)) checkArgument(name, argument, args);
  return {
    ...about,
    arguments: Object.entries<DefinedArgument>(args as Readonly<Record<string, DefinedArgument>>).map(
      ([name, argument]) => ({
        name: name.replace(/\?$/, ""),
        ...(typeof argument === "string" ? { description: argument } : argument),
        required: !name.endsWith("?"),
      }),
    ),
    run: (values, call) => run(values as ArgumentValues<Name>, call),
  };
}

function checkArgument(name: string, argument: unknown, all: object): void {
  const what = `the argument ${quote(name)} of a prompt`;
  if (name === "" || name === "?") throw invalid(`${what} has no name; write { city: "Where to" }`);
  if (Object.hasOwn(all, `${name}?`))
    throw invalid(`${what} is defined twice, as ${quote(`${name}?`)} too; remove one`);
  if (typeof argument === "string") return;
  checkMembers(argument, what, ["title", "description", "complete"], "its description, or { description, complete }");
  const { title, description, complete } = argument as Partial<DescribedArgument>;
  checkText(title, `"title" of ${what}`);
  checkText(description, `"description" of ${what}`);
  if (complete !== undefined)
    checkFunction(complete, `"complete" of ${what}`, "a function that returns a list of texts");
}
