/** An OTLP/HTTP receiver that keeps the spans it is sent. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { onTestFinished } from "vitest";

type WireValue = { readonly stringValue?: string; readonly intValue?: number; readonly boolValue?: boolean };

interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly traceState?: string;
  readonly status: { readonly code: number };
  readonly attributes: readonly { readonly key: string; readonly value: WireValue }[];
}

interface WireTraces {
  readonly resourceSpans: readonly {
    readonly resource: Pick<WireSpan, "attributes">;
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

export interface ReceivedSpan extends Omit<WireSpan, "attributes"> {
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Attributes of its server. */
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface TraceReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  readonly headers: readonly IncomingHttpHeaders[];
  readonly paths: readonly (string | undefined)[];
}

/** Answers every request with this status; closed when the test ends. */
export async function startTraceReceiver(status = 200): Promise<TraceReceiver> {
  const spans: ReceivedSpan[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const paths: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    headers.push(request.headers);
    paths.push(request.url);
    void json(request).then((body) => {
      for (const { resource, scopeSpans } of (body as WireTraces).resourceSpans)
        for (const span of scopeSpans.flatMap((scope) => scope.spans))
          spans.push({ ...span, attributes: valuesOf(span), resource: valuesOf(resource) });
      response.writeHead(status, { "Content-Type": "application/json" }).end("{}");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, headers, paths };
}

function valuesOf({ attributes }: Pick<WireSpan, "attributes">): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
