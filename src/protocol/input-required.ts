/** A result that requests input from the client, after which the tool or prompt is called again. */
import { unsupported } from "../errors.ts";
import { wait } from "../lib/wait.ts";
import type { ClientRequest } from "./client-request.ts";
import { codes, member, type RequestParams, ProtocolError } from "./message.ts";
import type { Revision } from "./revision.ts";
import type { ToolCall } from "./tools.ts";

export interface InputRequest {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  readonly params?: RequestParams;
}

/** At least one of the two is present. The server must be able to detect a forged state. */
export interface InputRequired {
  readonly inputRequests?: Readonly<Record<string, InputRequest>>;
  readonly requestState?: string;
}

/** How often one call may require input in a session. */
const maxRounds = 8;

/** Pause before calling again without any input, which a busy tool may require. */
const pauseMs = 250;

export function isInputRequired(answer: object): answer is InputRequired {
  return "inputRequests" in answer || "requestState" in answer;
}

/**
 * Calls a tool or prompt until it requires no more input that the client of a session can give. Modern clients have no session: they get
 * the requests as the result, and call again themselves.
 */
export async function withInput<T extends object>(
  { askClient, call: { signal }, clientCapabilities, revision }: ClientRequest,
  first: ToolCall,
  call: (request: ToolCall) => Promise<T | InputRequired>,
): Promise<T | InputRequired> {
  let request = first;
  for (let round = 1; ; round++) {
    const answer = await call(request);
    if (!isInputRequired(answer)) return answer;
    const { inputRequests = {}, requestState } = answer;
    const isMissing = missingFor(inputRequests, clientCapabilities, revision) !== undefined;
    if (isModern(revision) && !isMissing) return answer;
    // Ends a call that the tool keeps open for this state; otherwise it waits until its time limit.
    const cancel = async () =>
      requestState === undefined ||
      (await call({ ...first, inputResponses: {}, requestState, signal: AbortSignal.abort() }).catch(() => undefined));
    if (isMissing || !askClient) {
      await cancel();
      return answer;
    }
    try {
      if (round > maxRounds) throw unsupported(`this still needs input after ${maxRounds} rounds of it`);
      const asks = Object.entries(inputRequests).map(([key, each]) => [key, inWordsOf(revision, each)] as const);
      if (asks.length === 0) await wait(pauseMs, signal);
      const inputResponses = asks.length === 0 ? undefined : await askClient(Object.fromEntries(asks));
      request = { ...first, inputResponses, requestState };
    } catch (cause) {
      await cancel();
      throw cause;
    }
  }
}

/** The result for a modern client. Throws if the client cannot give this input. */
export function wireInputRequired(
  { inputRequests, requestState }: InputRequired,
  { revision, clientCapabilities, offer, askClient }: ClientRequest,
): Record<string, unknown> {
  const missing = missingFor(inputRequests ?? {}, clientCapabilities, revision);
  const names = Object.keys(missing ?? {}).join(", ");
  if (!isModern(revision)) {
    throw unsupported(
      askClient
        ? `this needs input that this client or its revision of the protocol cannot give: ${names}`
        : "this needs input from the client; accept text/event-stream",
    );
  }
  if (missing) {
    throw new ProtocolError(codes.missingCapability, `this needs a client that declares: ${names}`, {
      data: { requiredCapabilities: missing },
      status: 400,
    });
  }
  const result = { inputRequests, requestState };
  return { ...revision.seal(result, undefined, offer.server), resultType: "input_required" };
}

function isModern({ asks }: Revision): boolean {
  return asks.has("server/discover");
}

/** Capabilities that these requests need and the client lacks, in the form in which a client declares them. Undefined if none. */
function missingFor(
  inputRequests: Readonly<Record<string, InputRequest>>,
  declared: RequestParams,
  { requests, has }: Revision,
): Record<string, object> | undefined {
  const missing: Record<string, object> = {};
  for (const { method, params } of Object.values(inputRequests)) {
    const [name, part] = neededFor(method, params);
    const capability = requests.has(method) ? member(declared, name) : undefined;
    // Without parts, an elicitation is a form.
    const isForm = part === "form" && (!has.inputParts || member(capability, "url") === undefined);
    const isPart = part === undefined || isForm || (has.inputParts && member(capability, part) !== undefined);
    if (capability !== undefined && isPart) continue;
    const needsPart = part !== undefined && (part !== "form" || capability !== undefined);
    missing[name] = { ...missing[name], ...(needsPart && { [part]: {} }) };
  }
  return Object.keys(missing).length > 0 ? missing : undefined;
}

/** A capability, and the part of it that has to be declared too. */
function neededFor(method: InputRequest["method"], params: RequestParams | undefined): readonly [string, string?] {
  switch (method) {
    case "elicitation/create":
      return ["elicitation", member(params, "mode") === "url" ? "url" : "form"];
    case "sampling/createMessage":
      return member(params, "tools") === undefined && member(params, "toolChoice") === undefined
        ? ["sampling"]
        : ["sampling", "tools"];
    case "roots/list":
      return ["roots"];
  }
}

/** The request as it is sent in a session of this revision. */
function inWordsOf({ has }: Revision, request: InputRequest): InputRequest {
  if (request.method !== "elicitation/create") return request;
  const { mode, ...params } = request.params ?? {};
  if (!has.inputParts) return { ...request, params };
  // Sessions require an id, which modern revisions do not have.
  return mode === "url" ? { ...request, params: { elicitationId: crypto.randomUUID(), mode, ...params } } : request;
}
