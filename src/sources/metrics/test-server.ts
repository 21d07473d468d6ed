/** A server with as much of the Prometheus API as a test defines: for behaviour that a real one cannot show on demand. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { SampleSeries } from "./matrix.ts";

export interface Asked {
  readonly endpoint: string;
  readonly params: URLSearchParams;
  readonly request: IncomingMessage;
}

/** Returns the data of the response; undefined if it has already responded. */
export type Responder = (requested: Asked, response: ServerResponse) => unknown;

export interface TestServer {
  readonly url: string;
  readonly asked: Asked[];
  /** By endpoint; others are not found. */
  readonly answers: Map<string, Responder>;
  /** The result of every range query: labels, and a value for each time. */
  series: readonly {
    readonly metric: SampleSeries["metric"];
    readonly value: (seconds: number) => string | undefined;
  }[];
  alerts: readonly object[];
  targets: readonly object[];
  /** The result of every instant query. */
  now: unknown;
  reset(): void;
  close(): void;
}

export const names = ["http_requests_total", "latency_seconds_bucket", "node_load1", "odd/name ✓", "up"];
export const metadata = {
  http_requests_total: [{ type: "counter", help: "Requests that were answered.", unit: "" }],
  latency_seconds: [{ type: "histogram", help: "How long it took.", unit: "" }],
  node_load1: [{ type: "gauge", help: "1m load average.", unit: "" }],
};

export async function startTestServer(): Promise<TestServer> {
  const http = createServer((request, response) => void take(request, response));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const server: TestServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    asked: [],
    answers: new Map(),
    series: [],
    alerts: [],
    targets: [],
    now: undefined,
    reset() {
      server.asked.length = 0;
      server.series = [{ metric: { __name__: "up", job: "node" }, value: () => "1" }];
      server.alerts = [];
      server.targets = [];
      server.now = { resultType: "vector", result: [] };
      server.answers.clear();
      for (const [endpoint, answer] of standard(server)) server.answers.set(endpoint, answer);
    },
    close() {
      http.close();
      http.closeAllConnections();
    },
  };
  server.reset();

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, search } = new URL(request.url ?? "", server.url);
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += piece as string;
    const endpoint = decodeURIComponent(pathname.replace(/^.*\/api\/v1\//, ""));
    const requested = { endpoint, params: new URLSearchParams(request.method === "POST" ? body : search), request };
    server.asked.push(requested);
    const data = server.answers.get(endpoint)?.(requested, response);
    if (data !== undefined) response.end(JSON.stringify({ status: "success", data }));
    else if (!server.answers.has(endpoint)) response.writeHead(404).end("404 page not found");
  }
  return server;
}

/** An error in the format of the API. */
export function failing(status: number, errorType: string, error: string): Responder {
  return (_, response) => void response.writeHead(status).end(JSON.stringify({ status: "error", errorType, error }));
}

function standard(server: TestServer): [string, Responder][] {
  return [
    ["label/__name__/values", () => names],
    ["metadata", () => metadata],
    ["labels", () => ["__name__", "client_ip", "instance", "job"]],
    ["label/job/values", () => ["api", "node"]],
    ["label/instance/values", () => ["10.0.0.1:9100", "b,c"]],
    ["alerts", () => ({ alerts: server.alerts })],
    ["targets", () => ({ activeTargets: server.targets })],
    ["query", () => server.now],
    ["query_range", ({ params }) => overRange(server.series, params)],
  ];
}

function overRange(series: TestServer["series"], params: URLSearchParams): object {
  const [start, end, step] = ["start", "end", "step"].map((name) => Number(params.get(name))) as [
    number,
    number,
    number,
  ];
  const times: number[] = [];
  for (let at = start; at <= end + step / 1000; at += step) times.push(at);
  const isCount = params.get("query")?.startsWith("count(");
  const result = isCount
    ? [{ metric: {}, values: times.map((at) => [at, String(series.length)]) }]
    : series.map(({ metric, value }) => ({
        metric,
        values: times.flatMap((at) => {
          const found = value(at);
          return found === undefined ? [] : [[at, found]];
        }),
      }));
  return { resultType: "matrix", result };
}
