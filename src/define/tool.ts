/** A tool of a small server. */
import type { z } from "zod";
import type { Call, Icon } from "../resources.ts";
import type { DefinedBlock } from "./blocks.ts";

export interface ToolDefinition<Input> {
  readonly title?: string;
  /** Written for a model, in the imperative: when to call the tool, and what for. */
  readonly description: string;
  /** Schema of the input, an object. `run` gets only input that matches. Default: no input. */
  readonly input?: (zod: typeof z) => z.ZodType<Input>;
  /** True if the tool changes nothing. Others are only for callers who may write to the mount. */
  readonly readOnly?: boolean;
  /** Other hints about its behaviour, such as `openWorldHint`. */
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly icons?: readonly Icon[];
  /** The call's signal ends when the caller cancels: there is no other time limit. A ResourceError is shown to the model. */
  run(input: Input, call: Call): ToolOutput | Promise<ToolOutput>;
}

/** `json` is a JSON value: its text, and structured content if it is an object. */
export type ToolOutput = DefinedBlock | { readonly json: unknown } | readonly DefinedBlock[];

export type DefinedTool = ToolDefinition<never>;

/** Ties the types of `input` and `run` together. */
export function tool<Input = Record<string, never>>(definition: ToolDefinition<Input>): DefinedTool {
  return definition as unknown as DefinedTool;
}
