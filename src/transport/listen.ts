/** A server of its own for MCP over HTTP: a port, time limits, and an orderly end. */
import type { Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { invalid, quote, ResourceError } from "../errors.ts";
import type { Edge } from "../protocol/edge.ts";
import { clientOf, createShares } from "./clients.ts";
import { hostInUrl } from "./guard.ts";
import type { Http, HttpOptions } from "./http.ts";
import { createHttp } from "./http.ts";

export interface ListenOptions extends HttpOptions {
  readonly host?: string;
  /** 0 takes any that is free. */
  readonly port: number;
  /** For all headers of a request to arrive. */
  readonly headersTimeoutMs?: number;
  /** For a whole request to arrive. Answers and streams may take as long as they like. */
  readonly requestTimeoutMs?: number;
  /** How long a connection may be idle between two requests. */
  readonly keepAliveTimeoutMs?: number;
  /** Beyond these, connections are turned away; one machine other than this gets half of them at most. */
  readonly maxConnections?: number;
  /** For what is under way when the server closes. */
  readonly graceMs?: number;
}

export interface Listening {
  /** Where clients connect to, the endpoint included. */
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  readonly http: Http;
  /** Takes nothing new, lets what is under way finish for a while, then hangs up on everyone. */
  close(): Promise<void>;
}

export async function listen(edge: Edge, options: ListenOptions): Promise<Listening> {
  const {
    host = "127.0.0.1",
    port,
    endpoint = "/mcp",
    allowedHosts = [],
    headersTimeoutMs = 15_000,
    requestTimeoutMs = 60_000,
    keepAliveTimeoutMs = 30_000,
    maxConnections = 20_000,
    // The rest is for requests, which come to an end.
    maxStreams = Math.floor(maxConnections * 0.9),
    graceMs = 5000,
  } = options;

  // An IPv6 address with a zone is one.
  if (!URL.canParse(`http://${hostInUrl(host)}`))
    throw invalid(`no URL can hold the address ${quote(host)}, so no client could be told it; choose another host`);
  const http = createHttp(edge, { ...options, maxStreams, allowedHosts: [...allowedHosts, hostInUrl(host)] });
  const server = createServer(
    {
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      connectionsCheckingInterval: Math.max(10, Math.min(headersTimeoutMs, requestTimeoutMs) / 3),
    },
    http.handle,
  );
  server.on("checkContinue", http.handleExpectation);
  server.maxConnections = maxConnections;
  const connections = new Set<Socket>();
  const shares = createShares(maxConnections);
  server.on("connection", (socket: Socket) => {
    const client = clientOf(socket);
    if (shares.isUsedUp(client)) return void socket.destroy();
    shares.add(client);
    connections.add(socket);
    socket.on("close", forget);
  });

  /** One for all: there may be tens of thousands. */
  function forget(this: Socket): void {
    connections.delete(this);
    shares.remove(clientOf(this));
  }

  /** To Node, a connection that was opened ahead of a question and never used is not idle. */
  function closeIdle(): void {
    server.closeIdleConnections();
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
  }

  try {
    await start(server, host, port);
  } catch (cause) {
    await http.close(0);
    throw cause;
  }
  const { port: taken } = server.address() as AddressInfo;

  return {
    url: `http://${hostInUrl(host)}:${taken}${endpoint}`,
    port: taken,
    server,
    http,
    async close() {
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      const hangUp = setTimeout(() => server.closeAllConnections(), graceMs + 500);
      await http.close(graceMs);
      // What ended just now is idle only after its last byte has left.
      closeIdle();
      const closing = setInterval(closeIdle, 20);
      await closed;
      clearInterval(closing);
      clearTimeout(hangUp);
    },
  };
}

function start(server: Server, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", (cause: NodeJS.ErrnoException) => reject(explain(cause, host, port)));
  server.listen(port, host, resolve);
  return promise;
}

function explain(cause: NodeJS.ErrnoException, host: string, port: number): ResourceError {
  const where = `port ${port} of ${quote(host)}`;
  switch (cause.code) {
    case "EADDRINUSE":
      return new ResourceError("unavailable", `${where} is taken by another program; choose another port`, { cause });
    case "EACCES":
      return new ResourceError("denied", `the system refuses ${where}; choose a port above 1023`, { cause });
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new ResourceError("invalid", `this machine has no address ${quote(host)}; choose another host`, { cause });
    default:
      return new ResourceError("unexpected", `cannot listen on ${where}`, { cause });
  }
}
