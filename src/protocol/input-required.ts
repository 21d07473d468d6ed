/** A result that requests input from the client, which then calls again (2026-07-28 only). */
import { ResourceError } from "../errors.ts";
import type { ClientRequest } from "./client-request.ts";
import { codes, member, type RequestParams, ProtocolError } from "./message.ts";

export interface InputRequest {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  readonly params?: RequestParams;
}

/** At least one of the two is present. The server must be able to detect a forged state. */
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
      "this needs input from the user, which this revision of the protocol cannot request",
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
  const result = { inputRequests, requestState };
  return { ...revision.seal(result, undefined, offer.server), resultType: "input_required" };
}
