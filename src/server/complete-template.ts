/** Completes a variable of a template by a tool: hosts relay tools to the pages that they show, but no completions. */
import { nameParam, stringsOf, uriOf, valueParam } from "../protocol/params.ts";
import type { Tool } from "../protocol/tools.ts";
import type { Resources } from "../resources.ts";

export function createCompleteTemplate(resources: Pick<Resources, "complete">): Tool {
  const text = { type: "string" };
  return {
    name: "complete_template",
    title: "Complete a variable of a template",
    description: "For the page of pick_resources: values of a variable in a URI template that continue a typed text.",
    inputSchema: {
      type: "object",
      properties: {
        uri: { ...text, description: "The template" },
        name: { ...text, description: "The variable" },
        value: { ...text, description: "The text typed so far" },
        arguments: { type: "object", additionalProperties: text, description: "Values of other variables" },
      },
      required: ["uri", "name", "value"],
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: { values: { type: "array", items: text }, hasMore: { type: "boolean" } },
      required: ["values", "hasMore"],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
    async call(args, call) {
      const request = {
        template: uriOf(args),
        variable: nameParam(args),
        value: valueParam(args),
        given: stringsOf(args, "arguments"),
      };
      const { values, more = false } = await resources.complete(request, call);
      return { content: [{ type: "text", text: values.join("\n") }], structuredContent: { values, hasMore: more } };
    },
  };
}
