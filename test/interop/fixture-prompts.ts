/** Prompts as the conformance suite describes them; what they embed, they read from the server. */
import type { Prompt, PromptMessage } from "../../src/protocol/prompts.ts";
import type { Resources } from "../../src/resources.ts";
import { inputPrompt } from "./fixture-input.ts";
import { png } from "./fixture-media.ts";
import { embed } from "./fixture-tools.ts";

const words = ["paris", "park", "party", "test", "testing"];

export function createFixturePrompts(resources: Resources): readonly Prompt[] {
  return [
    {
      name: "test_simple_prompt",
      description: "One sentence",
      get: async () => ({ messages: [say("This is a simple prompt for testing.")] }),
    },
    {
      name: "test_prompt_with_arguments",
      description: "Repeats its arguments",
      arguments: [
        { name: "arg1", description: "First test argument", required: true },
        { name: "arg2", description: "Second test argument", required: true },
      ],
      get: async ({ arg1, arg2 }) => ({ messages: [say(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
      complete: async (_argument, value) => ({ values: words.filter((word) => word.startsWith(value)) }),
    },
    {
      name: "test_prompt_with_embedded_resource",
      description: "Embeds a resource",
      arguments: [{ name: "resourceUri", description: "URI of the resource to embed", required: true }],
      async get({ resourceUri = "" }, call) {
        const blocks = await embed(resources, resourceUri, call);
        const embedded = blocks.map((content): PromptMessage => ({ role: "user", content }));
        return { messages: [...embedded, say("Please process the embedded resource above.")] };
      },
    },
    {
      name: "test_prompt_with_image",
      description: "Shows one pixel",
      get: async () => ({
        messages: [
          { role: "user", content: { type: "image", bytes: png, mimeType: "image/png" } },
          say("Please analyze the image above."),
        ],
      }),
    },
    inputPrompt,
  ];
}

function say(text: string): PromptMessage {
  return { role: "user", content: { type: "text", text } };
}
