/** A tool of a small server. */
import type { z } from "zod";
import type { Call, Icon } from "../resources.ts";
import type { DefinedBlock } from "./blocks.ts";

export interface ToolDefinition<Input> {
  readonly title?: string;
  /** Written for a model, in the imperative: when to call the tool, and what for. */
  readonly description: string;
  /** A schema of zod 4 for an object, or a function that makes one with the zod of this package. `run` gets only input that matches. Default: no input. */
  readonly input?: z.ZodType<Input> | ((zod: typeof z) => z.ZodType<Input>);
  /** True if the tool changes nothing. Others are only for callers who may write to the mount. */
  readonly readOnly?: boolean;
  /** Other hints about its behaviour, such as `openWorldHint`. */
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly icons?: readonly Icon[];
  /** The call's signal ends when the caller cancels: there is no other time limit. A ResourceError is shown to the model. */
  run(input: Input, call: Call): ToolOutput | Promise<ToolOutput>;
}

/** `json` is a JSON value: its text, and structured content if it is an object. Undefined and null are an empty result. */
export type ToolOutput = DefinedBlock | { readonly json: unknown } | readonly DefinedBlock[] | null | undefined;

export type DefinedTool = ToolDefinition<never>;

/** Ties the types of `input` and `run` together. */
export function tool<Input = unknown>(definition: ToolDefinition<Input>): DefinedTool {
  return definition as unknown as DefinedTool;
}
