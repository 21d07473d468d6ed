/** A web-standard `Request` for the HTTP core. */
import type { IncomingHttpHeaders } from "node:http";
import type { RequestScope } from "../lib/request-scope.ts";
import type { WireBytes } from "../protocol/protocol.ts";
import type { Caller } from "../resources.ts";
import { bytesOfBody, type RequestBody } from "./body.ts";
import type { BytePool } from "./byte-pool.ts";
import { type Client, proxiedClient } from "./clients.ts";
import { createGrowingBuffer } from "./growing-buffer.ts";
import type { Connection } from "./guard.ts";
import type { IncomingRequest, RequestContext } from "./incoming-request.ts";
import type { createPathLocator } from "./locate-path.ts";
import { sendJson } from "./send-json.ts";
import { WebResponse } from "./web-response.ts";

export interface FetchContext extends RequestContext {
  /** The client's address, for limits per machine and the audit log: a `Request` does not have it. */
  readonly remoteAddress?: string | undefined;
}

/** What all requests of a handler share. */
interface WebRequests {
  readonly maxBodyBytes: number;
  /** Limit of all bodies that are arriving. */
  readonly pool: BytePool;
  readonly locate: ReturnType<typeof createPathLocator>;
}

export class WebRequest implements IncomingRequest {
  readonly request: Request;
  readonly response: WebResponse;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly url: string;
  readonly path: string;
  readonly basePath: string;
  readonly isBelowBase: boolean;
  readonly context: FetchContext | undefined;
  scope: RequestScope | undefined = undefined;
  readonly connection: Connection;
  readonly awaitsContinue = false;
  readonly #shared: WebRequests;

  constructor(shared: WebRequests, request: Request, context: FetchContext | undefined) {
    const { host, protocol, pathname, search } = new URL(request.url);
    this.request = request;
    this.context = context;
    this.method = request.method;
    // Only the header is the client's word: some runtimes make the URL from headers of proxies. HTTP/2 has no such header.
    this.headers = { host, ...Object.fromEntries(request.headers) };
    this.url = pathname + search;
    ({ path: this.path, basePath: this.basePath, isBelowBase: this.isBelowBase } = shared.locate(this.url));
    this.connection = { isSecure: protocol === "https:" };
    this.response = new WebResponse(request.method === "HEAD");
    this.#shared = shared;
  }

  get isBodyRead(): boolean {
    const { bodyUsed, body } = this.request;
    return this.context?.body !== undefined || bodyUsed || body?.locked === true;
  }

  clientFor(caller: Caller): Client {
    return proxiedClient(this.context?.remoteAddress, caller.id);
  }

  readBody(done: (body: RequestBody) => void): void {
    const { request, context } = this;
    const { maxBodyBytes } = this.#shared;
    if (this.isBodyRead) return done(bytesOfBody(context?.body, maxBodyBytes));
    if (Number(this.headers["content-length"]) > maxBodyBytes) return done("too-large");
    if (request.body === null) return done(Buffer.alloc(0));
    // Disconnected: nobody waits for a response.
    this.#read(request.body).then(done, () => this.response.abandon());
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<RequestBody> {
    const { pool, maxBodyBytes } = this.#shared;
    const reader = body.getReader();
    const all = createGrowingBuffer();
    const busy = Promise.withResolvers<"busy">();
    const share = pool.open(() => {
      share.resize(0);
      busy.resolve("busy");
    });
    const announced = Number(this.headers["content-length"]);
    let length = 0;
    try {
      for (;;) {
        const read = await Promise.race([reader.read(), busy.promise]);
        if (read === "busy") return read;
        if (read.done) return all.take();
        length += read.value.length;
        if (length > maxBodyBytes) return "too-large";
        all.append(read.value);
        // Only incomplete bodies count.
        if (length !== announced) share.resize(length);
      }
    } finally {
      share.resize(0);
      // Does nothing after the end. The rest is not wanted.
      reader.cancel().catch(() => {});
    }
  }

  sendTooLarge(wire: WireBytes): void {
    sendJson(this.response, 413, wire);
  }
}
