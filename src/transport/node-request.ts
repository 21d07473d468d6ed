/** A request of `node:http` for the HTTP core. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { RequestScope } from "../lib/request-scope.ts";
import type { WireBytes } from "../protocol/protocol.ts";
import type { Caller } from "../resources.ts";
import { bytesOfBody, type createBodyReader, discard, isAlreadyRead, type RequestBody } from "./body.ts";
import { type Client, clientOf, proxiedClient } from "./clients.ts";
import { forwardedAddress, forwardedHost, isSecure } from "./forwarded.ts";
import type { Connection } from "./guard.ts";
import type { IncomingRequest, RequestContext } from "./incoming-request.ts";
import type { LocatedPath } from "./locate-path.ts";
import type { OutgoingResponse } from "./outgoing-response.ts";
import { thenClose } from "./refusals.ts";
import { idHeaderOf, unkept } from "./send-json.ts";

/** What all requests of a handler share. */
interface NodeRequests {
  readonly maxBodyBytes: number;
  readonly readBody: ReturnType<typeof createBodyReader>;
  /** Requests that wait for "100 Continue". */
  readonly expectant: WeakSet<IncomingMessage>;
  /** Called before "100 Continue": the body is wanted. */
  readonly wanted: (response: ServerResponse) => void;
}

/** A class, because there are many: methods are shared. */
export class NodeRequest implements IncomingRequest {
  readonly message: IncomingMessage;
  readonly response: ServerResponse & OutgoingResponse;
  readonly path: string;
  readonly basePath: string;
  readonly isBelowBase: boolean;
  readonly context: RequestContext | undefined;
  scope: RequestScope | undefined = undefined;
  readonly #shared: NodeRequests;

  constructor(
    shared: NodeRequests,
    message: IncomingMessage,
    response: ServerResponse,
    { path, basePath, isBelowBase }: LocatedPath,
    context: RequestContext | undefined,
  ) {
    this.message = message;
    this.response = response;
    this.path = path;
    this.basePath = basePath;
    this.isBelowBase = isBelowBase;
    this.context = context;
    this.#shared = shared;
  }

  get method(): string | undefined {
    return this.message.method;
  }

  get headers(): IncomingHttpHeaders {
    return this.message.headers;
  }

  get url(): string {
    return this.message.url ?? "/";
  }

  get connection(): Connection {
    return { host: forwardedHost(this.message), isSecure: isSecure(this.message) };
  }

  get awaitsContinue(): boolean {
    return this.#shared.expectant.has(this.message);
  }

  get isBodyRead(): boolean {
    return this.context?.body !== undefined || isAlreadyRead(this.message);
  }

  clientFor(caller: Caller): Client {
    const address = forwardedAddress(this.message);
    return address === undefined ? clientOf(this.message.socket) : proxiedClient(address, caller.id);
  }

  readBody(done: (body: RequestBody) => void): void {
    const { message, response, context } = this;
    const { readBody, maxBodyBytes, expectant, wanted } = this.#shared;
    if (context?.body !== undefined) return done(bytesOfBody(context.body, maxBodyBytes));
    if (isAlreadyRead(message)) return done(bytesOfBody((message as { body?: unknown }).body, maxBodyBytes));
    readBody(message, done);
    if (message.headers.expect !== undefined && expectant.delete(message) && !response.headersSent) {
      wanted(response);
      response.writeContinue();
    }
  }

  sendTooLarge(wire: WireBytes): void {
    const { message, response } = this;
    response.writeHead(413, { "Content-Type": "application/json", ...unkept, ...thenClose, ...idHeaderOf(response) });
    for (const piece of wire) response.write(piece);
    discard(message, this.#shared.maxBodyBytes, () => response.end());
  }
}
