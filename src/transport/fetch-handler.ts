/** MCP over HTTP for hosts with web-standard requests and responses. */
import type { Protocol } from "../protocol/protocol.ts";
import type { Caller } from "../resources.ts";
import { createBytePool } from "./byte-pool.ts";
import { defaultBodyLimits, defaultEndpoint, type HandlerOptions } from "./handler-options.ts";
import { createHttpCore } from "./http-core.ts";
import { createPathLocator } from "./locate-path.ts";
import type { ServedApp } from "./served-app.ts";
import { type FetchContext, WebRequest } from "./web-request.ts";

export interface FetchHandlerOptions extends HandlerOptions {
  /** Identifies the caller. Undefined gives a 401. Default: everyone is the same caller. Not consulted if the app passes the caller. */
  readonly identify?: (request: Request) => Caller | undefined | Promise<Caller | undefined>;
}

export interface FetchHandler {
  /**
   * Handles any request, as `createNodeHandler` does. Cancelling the body of a response, or aborting the request, ends what it was for. Never
   * rejects.
   */
  fetch(request: Request, context?: FetchContext): Promise<Response>;
  /** Open sessions and streams. */
  readonly counts: { readonly sessions: number; readonly streams: number };
  /**
   * Responds to received requests within the grace period. Then ends every listen with its result, and all sessions and streams. Later
   * requests get 503.
   */
  close(graceMs?: number): Promise<void>;
}

export function createFetchHandler(app: ServedApp | Protocol, options: FetchHandlerOptions = {}): FetchHandler {
  const { endpoint = defaultEndpoint, identify } = options;
  const { maxBodyBytes = defaultBodyLimits.maxBytes, maxArrivingBytes = defaultBodyLimits.maxTotalBytes } = options;
  const shared = {
    maxBodyBytes,
    pool: createBytePool(maxArrivingBytes),
    locate: createPathLocator({ ...options, endpoint }),
  };
  const core = createHttpCore<WebRequest>(
    app,
    { ...options, isOneCaller: options.isOneCaller ?? identify === undefined },
    { identify: identify && (({ request }) => identify(request)) },
  );

  return {
    fetch(request, context) {
      const incoming = new WebRequest(shared, request, context);
      const { response } = incoming;
      core.track(response);
      endWith(request.signal, response);
      if (!response.destroyed) core.serve(incoming);
      return response.ready;
    },
    get counts() {
      return core.counts;
    },
    close: (graceMs) => core.close(graceMs),
  };
}

/** The client is gone as soon as its request is aborted. */
function endWith(signal: AbortSignal, response: WebRequest["response"]): void {
  const end = () => response.abandon();
  if (signal.aborted) return end();
  signal.addEventListener("abort", end, { once: true });
  response.once("close", () => signal.removeEventListener("abort", end));
}
