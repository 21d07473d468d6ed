/** Generates the JSON schema of what producers send, for the documentation. */
import { z } from "zod";
import { findInput } from "./find-analysis.ts";
import { storeInput } from "./store-analysis.ts";

/** The same as the input schemas of the tools. */
export function analysisJsonSchema(): Readonly<Record<string, unknown>> {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Input of find_analysis and store_analysis",
    $defs: { find_analysis: toJson(findInput(z)), store_analysis: toJson(storeInput(z)) },
  };
}

function toJson(schema: z.ZodType): Readonly<Record<string, unknown>> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return json;
}
