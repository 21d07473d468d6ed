/** Sends the trace of a request on to the other server: in `_meta`, and over HTTP also as headers. */
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import type { Fetch } from "../../client/own-headers.ts";
import type { ConnectMethod } from "../../client/reconnect.ts";
import { traceCarrier } from "../../lib/request-scope.ts";

export function traced(way: ConnectMethod): ConnectMethod {
  return {
    ...way,
    async open(observer) {
      const transport = await way.open(observer);
      const send = transport.send.bind(transport);
      transport.send = (message, options) => send(withTrace(message), options);
      return transport;
    },
  };
}

function withTrace(message: JSONRPCMessage): JSONRPCMessage {
  if (!("method" in message) || !("id" in message)) return message;
  const carrier = traceCarrier();
  if (carrier["traceparent"] === undefined) return message;
  const { params = {} } = message;
  return { ...message, params: { ...params, _meta: { ...carrier, ...params["_meta"] } } };
}

/** To the server itself only: not to servers that it names or redirects to. */
export function tracedFetch(server: string, inner: Fetch = (to, init) => fetch(to, init)): Fetch {
  const { origin } = new URL(server);
  return (to, init) => {
    // A stream outlives the request that opened it.
    if (init?.method !== "POST") return inner(to, init);
    const carrier = traceCarrier();
    if (carrier["traceparent"] === undefined || new URL(to).origin !== origin) return inner(to, init);
    const headers = new Headers(init?.headers);
    for (const [name, value] of Object.entries(carrier)) if (!headers.has(name)) headers.set(name, value);
    return inner(to, { ...init, headers });
  };
}
