/** An answer that is a question back: the client is to gather input and ask again (2026-07-28 alone). */
import { ResourceError } from "../errors.ts";
import type { ClientRequest } from "./client-request.ts";
import { codes, member, type RequestParams, ProtocolError } from "./message.ts";

export interface InputRequest {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  readonly params?: RequestParams;
}

/** At least one of the two. Whoever makes a state must be able to tell a forged one. */
export interface InputRequired {
  readonly inputRequests?: Readonly<Record<string, InputRequest>>;
  readonly requestState?: string;
}

const capabilityFor = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
} as const;

export function isInputRequired(answer: object): answer is InputRequired {
  return "inputRequests" in answer || "requestState" in answer;
}

export function wireInputRequired(
  { inputRequests, requestState }: InputRequired,
  question: ClientRequest,
): Record<string, unknown> {
  const { revision, clientCapabilities, offer } = question;
  if (!revision.asks.has("server/discover")) {
    throw new ResourceError(
      "unsupported",
      "this needs input from the person, which this revision of the protocol cannot ask for",
    );
  }
  const missing: Record<string, object> = {};
  for (const { method } of Object.values(inputRequests ?? {})) {
    const capability = capabilityFor[method];
    if (member(clientCapabilities, capability) === undefined) missing[capability] = {};
  }
  if (Object.keys(missing).length > 0) {
    const names = Object.keys(missing).join(", ");
    throw new ProtocolError(codes.missingCapability, `this needs a client that declares: ${names}`, {
      data: { requiredCapabilities: missing },
      status: 400,
    });
  }
  const result = { ...(inputRequests && { inputRequests }), ...(requestState !== undefined && { requestState }) };
  return { ...revision.seal(result, undefined, offer.server), resultType: "input_required" };
}
