/** Tools as the conformance suite describes them; what they embed, they read from the server. */
import { setTimeout as wait } from "node:timers/promises";
import { ResourceError } from "../../src/errors.ts";
import type { ContentBlock } from "../../src/protocol/blocks.ts";
import type { Tool, ToolResult } from "../../src/protocol/tools.ts";
import type { Call, Resources } from "../../src/resources.ts";
import { inputTools } from "./fixture-input.ts";
import { png, wav } from "./fixture-media.ts";

const image: ContentBlock = { type: "image", bytes: png, mimeType: "image/png" };

export function createFixtureTools(resources: Resources): readonly Tool[] {
  return [
    tool("test_simple_text", "Says one sentence", () => [text("This is a simple text response for testing.")]),
    tool("test_image_content", "Shows one pixel", () => [image]),
    tool("test_audio_content", "Plays silence", () => [{ type: "audio", bytes: wav, mimeType: "audio/wav" }]),
    tool("test_embedded_resource", "Embeds a resource", (call) => embed(resources, "test://embedded-resource", call)),
    tool("test_multiple_content_types", "Says, shows and embeds", async (call) => [
      text("Multiple content types test:"),
      image,
      ...(await embed(resources, "test://mixed-content-resource", call)),
    ]),
    tool("test_error_handling", "Fails", () => {
      throw new ResourceError("invalid", "This tool intentionally returns an error for testing");
    }),
    tool("test_tool_with_progress", "Says how far it is", async ({ progress, signal }) => {
      for (const done of [0, 50, 100]) {
        progress?.(done, 100);
        // As the suite describes the tool; nothing waits for this time.
        if (done < 100) await wait(50, undefined, { signal });
      }
      return [text("Done.")];
    }),
    tool("test_logging_tool", "Has nothing to log that a client asked for", () => [text("Nothing was logged.")]),
    {
      name: "json_schema_2020_12_tool",
      description: "Tool with JSON Schema 2020-12 features",
      inputSchema: richSchema,
      call: async () => ({ content: [text("Understood.")] }),
    },
    {
      name: "test_custom_header",
      description: "Has an argument that clients repeat as a header",
      inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } },
      call: async () => ({ content: [text("Understood.")] }),
    },
    ...inputTools,
  ];
}

/** The contents of a resource as blocks. */
export async function embed(resources: Resources, uri: string, call: Call): Promise<readonly ContentBlock[]> {
  const { contents } = await resources.read(uri, call);
  return contents.map((content) => ({ type: "embedded", content }));
}

function text(said: string): ContentBlock {
  return { type: "text", text: said };
}

function tool(
  name: string,
  description: string,
  answer: (call: Call) => readonly ContentBlock[] | Promise<readonly ContentBlock[]>,
): Tool {
  const call: Tool["call"] = async (_args, asked): Promise<ToolResult> => ({ content: await answer(asked) });
  return { name, description, inputSchema: { type: "object" }, call };
}

const richSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // oxlint-disable-next-line unicorn/no-thenable -- a word of JSON Schema; nothing awaits this
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};
