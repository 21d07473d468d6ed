/** A web server on this machine whose pages a test sets. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

export type TestPage = string | ((request: IncomingMessage, response: ServerResponse) => void);

export interface TestWebServer {
  /** By path without its first slash, decoded. Text is served as plain text. */
  readonly pages: Map<string, TestPage>;
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders; status: number }[];
  readonly host: string;
  readonly origin: string;
  /** Forgets pages and requests. */
  clear(): void;
  close(): void;
}

export async function startTestWebServer(): Promise<TestWebServer> {
  const pages = new Map<string, TestPage>();
  const requests: TestWebServer["requests"] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    const seen = { path, headers: request.headers, status: 0 };
    requests.push(seen);
    response.once("finish", () => (seen.status = response.statusCode));
    const page = pages.get(decodeURIComponent(path.slice(1)));
    if (typeof page === "function") return page(request, response);
    response.writeHead(page === undefined ? 404 : 200, { "Content-Type": "text/plain; charset=utf-8" });
    response.end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    pages,
    requests,
    host,
    origin: `http://${host}`,
    clear() {
      pages.clear();
      requests.length = 0;
    },
    close: () => void server.close(),
  };
}

export const answering =
  (status: number, headers: OutgoingHttpHeaders = {}, body: string | Uint8Array = "") =>
  (_request: IncomingMessage, response: ServerResponse): void =>
    void response.writeHead(status, headers).end(body);

/** A page with an entity tag, which is answered with 304 to whoever has it. */
export const tagged = (type: string, body: string, tag = body.length) => {
  const headers = { "Content-Type": type, ETag: `"${tag}"` };
  return (request: IncomingMessage, response: ServerResponse): void => {
    const isKnown = request.headers["if-none-match"] === `"${tag}"`;
    response.writeHead(isKnown ? 304 : 200, headers).end(isKnown ? undefined : body);
  };
};
