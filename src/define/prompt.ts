/** A prompt of a small server. */
import type { Call, Icon, PromptArgument } from "../resources.ts";
import type { DefinedBlock } from "./blocks.ts";

/** A description, or more. */
export type DefinedArgument = string | DescribedArgument;

export interface DescribedArgument extends Pick<PromptArgument, "title" | "description"> {
  /** Suggestions for what was typed so far, best first. */
  complete?(
    value: string,
    given: Readonly<Record<string, string>>,
    call: Call,
  ): readonly string[] | Promise<readonly string[]>;
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
export function prompt<const Name extends string = never>({
  args,
  run,
  ...about
}: PromptDefinition<Name>): DefinedPrompt {
  return {
    ...about,
    arguments: Object.entries<DefinedArgument>(args ?? {}).map(([name, argument]) => ({
      name: name.replace(/\?$/, ""),
      ...(typeof argument === "string" ? { description: argument } : argument),
      required: !name.endsWith("?"),
    })),
    run: (values, call) => run(values as ArgumentValues<Name>, call),
  };
}
