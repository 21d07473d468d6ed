/** A prompt of a small server. */
import type { Call, Icon, PromptArgument } from "../resources.ts";
import type { DefinedBlock } from "./blocks.ts";

export interface DefinedArgument extends Pick<PromptArgument, "title" | "description"> {
  /** True if a user may leave it out. */
  readonly optional?: boolean;
  /** Suggestions for what was typed so far, best first. */
  complete?(
    value: string,
    given: Readonly<Record<string, string>>,
    call: Call,
  ): Iterable<string> | Promise<Iterable<string>>;
}

export interface PromptDefinition<Arguments extends Readonly<Record<string, DefinedArgument>>> {
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly Icon[];
  readonly args?: Arguments;
  /** Arguments are texts from the user. Each result is a message of the user, unless it names a role. */
  run(args: ArgumentValues<Arguments>, call: Call): PromptOutput | Promise<PromptOutput>;
}

export type ArgumentValues<Arguments extends Readonly<Record<string, DefinedArgument>>> = {
  readonly [Name in keyof Arguments]: Arguments[Name] extends { readonly optional: true } ? string | undefined : string;
};

export interface DefinedMessage {
  readonly role: "user" | "assistant";
  readonly content: DefinedBlock;
}

export type PromptOutput = DefinedBlock | DefinedMessage | readonly (DefinedBlock | DefinedMessage)[];

export type DefinedPrompt = Omit<PromptDefinition<Readonly<Record<string, DefinedArgument>>>, "run"> & {
  run(args: never, call: Call): PromptOutput | Promise<PromptOutput>;
};

/** Ties the types of `args` and `run` together. */
export function prompt<const Arguments extends Readonly<Record<string, DefinedArgument>> = Record<string, never>>(
  definition: PromptDefinition<Arguments>,
): DefinedPrompt {
  return definition;
}
