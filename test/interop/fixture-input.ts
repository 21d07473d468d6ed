/** Tools and a prompt that need more than they were given, as the conformance suite describes them. */
import { z } from "zod";
import type { InputRequest, InputRequired } from "../../src/protocol/input-required.ts";
import type { Prompt } from "../../src/protocol/prompts.ts";
import type { ToolCall, Tool, ToolResult } from "../../src/protocol/tools.ts";
import { createSealedState } from "./sealed-state.ts";

type Respond = (asked: ToolCall) => ToolResult | InputRequired;

const sealed = createSealedState();

const roots: InputRequest = { method: "roots/list", params: {} };
const rootsResult = z.object({ roots: z.array(z.object({ uri: z.string() })) });
const messageResult = z.object({ content: z.object({ type: z.literal("text"), text: z.string() }) });

export const inputTools: readonly Tool[] = [
  tool("test_input_required_result_elicitation", "Asks for a name", ({ inputResponses }) => {
    const name = formField(inputResponses, "user_name", "name");
    return name === undefined
      ? { inputRequests: { user_name: form("What is your name?", "name") } }
      : say(`Hello, ${name}!`);
  }),

  tool("test_input_required_result_sampling", "Asks the model a question", ({ inputResponses }) => {
    const { data } = messageResult.safeParse(inputResponses?.["capital_question"]);
    return data
      ? say(data.content.text)
      : { inputRequests: { capital_question: sample("What is the capital of France?", 100) } };
  }),

  tool("test_input_required_result_list_roots", "Asks for the roots", ({ inputResponses }) => {
    const { data } = rootsResult.safeParse(inputResponses?.["client_roots"]);
    return data ? say(data.roots.map(({ uri }) => uri).join("\n")) : { inputRequests: { client_roots: roots } };
  }),

  tool(
    "test_input_required_result_request_state",
    "Asks to confirm, and remembers that it did",
    confirm("request-state"),
  ),
  tool(
    "test_input_required_result_tampered_state",
    "Asks to confirm, and knows its own handwriting",
    confirm("tampered-state"),
  ),

  tool(
    "test_input_required_result_multiple_inputs",
    "Asks for three things at once",
    ({ inputResponses, requestState }) => {
      const name = formField(inputResponses, "user_name", "name");
      const greeting = messageResult.safeParse(inputResponses?.["greeting"]).data;
      const given = rootsResult.safeParse(inputResponses?.["client_roots"]).data;
      if (requestState !== undefined) sealed.open("multiple", requestState);
      if (requestState !== undefined && name !== undefined && greeting && given)
        return say(`${greeting.content.text} ${name}, of ${given.roots.length} roots`);
      return {
        inputRequests: {
          user_name: form("What is your name?", "name"),
          greeting: sample("Generate a greeting", 50),
          client_roots: roots,
        },
        requestState: sealed.seal("multiple", {}),
      };
    },
  ),

  tool(
    "test_input_required_result_multi_round",
    "Asks twice, one after the other",
    ({ inputResponses, requestState }) => {
      const state = requestState === undefined ? { step: 1 } : sealed.open("rounds", requestState);
      const known = z.object({ step: z.literal(2), name: z.string() }).safeParse(state).data;
      if (known) {
        const color = formField(inputResponses, "step2", "color");
        return color === undefined ? secondStep(known.name) : say(`${known.name} likes ${color}.`);
      }
      const name = requestState === undefined ? undefined : formField(inputResponses, "step1", "name");
      if (name !== undefined) return secondStep(name);
      return {
        inputRequests: { step1: form("Step 1: What is your name?", "name") },
        requestState: sealed.seal("rounds", { step: 1 }),
      };
    },
  ),

  tool("test_input_required_result_capabilities", "Asks the model, and no person", () => ({
    inputRequests: { greeting: sample("Generate a greeting", 50) },
  })),

  tool("test_missing_capability", "Cannot do without the client's model", () => ({
    inputRequests: { thought: sample("Think of a number", 10) },
  })),

  tool("test_streaming_elicitation", "Asks a person on the way to its answer", () => ({
    inputRequests: { user_name: form("What is your name?", "name") },
  })),
];

export const inputPrompt: Prompt = {
  name: "test_input_required_result_prompt",
  description: "Asks for its context",
  async get(_args, { inputResponses }) {
    const context = formField(inputResponses, "user_context", "context");
    if (context === undefined)
      return { inputRequests: { user_context: form("What context should the prompt use?", "context") } };
    return { messages: [{ role: "user", content: { type: "text", text: `In the context of ${context}: go on.` } }] };
  },
};

function tool(name: string, description: string, respond: Respond): Tool {
  return { name, description, inputSchema: { type: "object" }, call: async (_args, asked) => respond(asked) };
}

function confirm(purpose: string): Respond {
  return ({ inputResponses, requestState }) => {
    if (requestState !== undefined) sealed.open(purpose, requestState);
    const ok = formField(inputResponses, "confirm", "ok", "boolean");
    if (requestState !== undefined && ok !== undefined) return say(`state-ok: ${ok}`);
    return {
      inputRequests: { confirm: form("Please confirm", "ok", "boolean") },
      requestState: sealed.seal(purpose, {}),
    };
  };
}

function secondStep(name: string): InputRequired {
  return {
    inputRequests: { step2: form("Step 2: What is your favorite color?", "color") },
    requestState: sealed.seal("rounds", { step: 2, name }),
  };
}

function form(message: string, field: string, type: "string" | "boolean" = "string"): InputRequest {
  const requestedSchema = { type: "object", properties: { [field]: { type } }, required: [field] };
  return { method: "elicitation/create", params: { mode: "form", message, requestedSchema } };
}

function sample(text: string, maxTokens: number): InputRequest {
  const messages = [{ role: "user", content: { type: "text", text } }];
  return { method: "sampling/createMessage", params: { messages, maxTokens } };
}

/** The field as it was filled in; undefined if it was not, or with something else. */
function formField(
  responses: ToolCall["inputResponses"],
  key: string,
  field: string,
  type?: "string",
): string | undefined;
function formField(
  responses: ToolCall["inputResponses"],
  key: string,
  field: string,
  type: "boolean",
): boolean | undefined;
function formField(
  responses: ToolCall["inputResponses"],
  key: string,
  field: string,
  type: "string" | "boolean" = "string",
): string | boolean | undefined {
  const filled = z.object({
    action: z.literal("accept"),
    content: z.object({ [field]: type === "string" ? z.string() : z.boolean() }),
  });
  return filled.safeParse(responses?.[key]).data?.content[field];
}

function say(text: string): ToolResult {
  return { content: [{ type: "text", text }] };
}
