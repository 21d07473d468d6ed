/** One HTTP exchange with everything in sight: the status, the headers as they came, the body as JSON or as events. */
import { Agent, request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http";
import { eventsIn, type ServerSentEvent } from "./event-stream.ts";

export interface HttpAsk {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Sent as it is when it is a string or bytes, as JSON otherwise. */
  readonly body?: unknown;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly isStream: boolean;
  text(): Promise<string>;
  json(): Promise<unknown>;
  events(): AsyncGenerator<ServerSentEvent>;
  /** Closes the connection, whatever is still to come. */
  hangUp(): void;
}

const agent = new Agent({ keepAlive: true });

export function httpAsk(url: string, { method = "POST", headers = {}, body }: HttpAsk = {}): Promise<HttpAnswer> {
  const payload =
    body === undefined || typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const asked = request(url, {
      method,
      agent,
      headers: {
        ...(payload !== undefined && {
          "Content-Type": "application/json",
          "Content-Length": Buffer.byteLength(payload),
        }),
        ...headers,
      },
    });
    asked.on("error", reject);
    asked.on("response", (response) => {
      const text = async (): Promise<string> => {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk as Buffer);
        return Buffer.concat(chunks).toString("utf8");
      };
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        isStream: response.headers["content-type"]?.startsWith("text/event-stream") ?? false,
        text,
        json: async () => JSON.parse(await text()) as unknown,
        events: () => eventsIn(response),
        hangUp: () => asked.destroy(),
      });
    });
    asked.end(payload);
  });
}
