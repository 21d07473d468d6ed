/** Tools that ask the client in the middle of a call, as the conformance suite describes them for the older revisions. */
import type { InputRequest } from "../../src/protocol/input-required.ts";
import { isJsonObject, type RequestParams } from "../../src/protocol/message.ts";
import type { Tool } from "../../src/protocol/tools.ts";

const options = ["option1", "option2", "option3"];
const titled = (word: string) =>
  ["First", "Second", "Third"].map((nth, index) => ({ const: `value${index + 1}`, title: `${nth} ${word}` }));

export const elicitationTools: readonly Tool[] = [
  asking("test_sampling", { prompt: { type: "string" } }, "LLM response", ({ prompt }) => ({
    method: "sampling/createMessage",
    params: { messages: [{ role: "user", content: { type: "text", text: prompt } }], maxTokens: 100 },
  })),
  asking("test_elicitation", { message: { type: "string" } }, "User response", ({ message }) =>
    form(
      message,
      {
        username: { type: "string", description: "User's response" },
        email: { type: "string", description: "User's email address" },
      },
      ["username", "email"],
    ),
  ),
  asking("test_elicitation_sep1034_defaults", {}, "Elicitation completed", () =>
    form("Check these values", {
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    }),
  ),
  asking("test_elicitation_sep1330_enums", {}, "Elicitation completed", () =>
    form("Choose", {
      untitledSingle: { type: "string", enum: options },
      titledSingle: { type: "string", oneOf: titled("Option") },
      legacyEnum: {
        type: "string",
        enum: ["opt1", "opt2", "opt3"],
        enumNames: ["Option One", "Option Two", "Option Three"],
      },
      untitledMulti: { type: "array", items: { type: "string", enum: options } },
      titledMulti: { type: "array", items: { anyOf: titled("Choice") } },
    }),
  ),
  asking("test_elicitation_url", {}, "User response", () => ({
    method: "elicitation/create",
    params: { mode: "url", message: "Sign in", url: "https://example.com/sign-in" },
  })),
];

/** A tool with one question, whose answer it repeats. */
function asking(
  name: string,
  properties: RequestParams,
  label: string,
  question: (args: RequestParams) => InputRequest,
): Tool {
  return {
    name,
    description: `Asks the client (${name})`,
    inputSchema: { type: "object", properties, required: Object.keys(properties) },
    async call(args, { inputResponses }) {
      const answer = inputResponses?.["answer"];
      if (!isJsonObject(answer)) return { inputRequests: { answer: question(args) } };
      return { content: [{ type: "text", text: `${label}: ${JSON.stringify(answer)}` }] };
    },
  };
}

function form(message: unknown, properties: RequestParams, required: readonly string[] = []): InputRequest {
  const requestedSchema = { type: "object", properties, ...(required.length > 0 && { required }) };
  return { method: "elicitation/create", params: { mode: "form", message, requestedSchema } };
}
