/** An HTTP server for MCP: port, time limits, and orderly shutdown. */
import type { Server } from "node:http";
import { createServer } from "node:http";
import type { Server as SecureServer, ServerOptions } from "node:https";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import { invalid, quote, ResourceError } from "../errors.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import type { Protocol } from "../protocol/protocol.ts";
import { type Client, clientOf, createShares, ofThisMachine } from "./clients.ts";
import { hostInUrl } from "./guard.ts";
import type { NodeHandler, NodeHandlerOptions } from "./node-handler.ts";
import { createNodeHandler } from "./node-handler.ts";
import type { ServedApp } from "./served-app.ts";

/** In PEM format. */
export interface CertificatePair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface ListenOptions extends Omit<NodeHandlerOptions, "ownsRequests" | "ownsProtocol"> {
  /** Serves HTTPS with this certificate. Default: HTTP. */
  readonly certificate?: CertificatePair;
  readonly host?: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** Time limit for the headers of a request. */
  readonly headersTimeoutMs?: number;
  /** Time limit for a whole request. Responses and streams have none. */
  readonly requestTimeoutMs?: number;
  /** Maximum idle time of a connection between two requests. */
  readonly keepAliveTimeoutMs?: number;
  /** Further connections are refused; each other machine gets at most half of them. */
  readonly maxConnections?: number;
  /** Time for running requests when the server closes. */
  readonly graceMs?: number;
}

export interface Listening {
  /** URL for clients, including the endpoint. */
  readonly url: string;
  readonly port: number;
  readonly server: Server | SecureServer;
  readonly http: NodeHandler;
  /** Used for new connections. Only if the server was started with a certificate. */
  renew(certificate: CertificatePair): void;
  /** Serves on, also new connections, and closes each after its response. For the time that a load balancer needs to notice. */
  drain(): void;
  /** Accepts no more connections, responds to received requests within the grace period, then closes all connections. */
  close(): Promise<void>;
}

/** Time for clients to close their side of a connection. */
const lingerMs = 500;
/** Time for the first request of a connection that was opened while draining. */
const firstRequestMs = 1000;
const lookMs = 10;
const maxRounds = 100;

export async function listen(app: ServedApp | Protocol, options: ListenOptions): Promise<Listening> {
  const {
    host = "127.0.0.1",
    port,
    endpoint = "/mcp",
    allowedHosts = [],
    headersTimeoutMs = 15_000,
    requestTimeoutMs = 60_000,
    // Longer than load balancers keep theirs (nginx and others 60 s): a request on a connection that was just closed would fail.
    keepAliveTimeoutMs = 75_000,
    maxConnections = 20_000,
    // The remainder is for requests, which end.
    maxStreams = Math.floor(maxConnections * 0.9),
    graceMs = 5000,
    certificate,
  } = options;

  // Node listens on a file or a pipe if the port is a text.
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw invalid(`the port must be a whole number from 0 to 65535, not ${quote(String(port))}`);
  // Such as an IPv6 address with a zone.
  if (!URL.canParse(`http://${hostInUrl(host)}`))
    throw invalid(`the address ${quote(host)} cannot be written in a URL; choose another host`);
  const http = createNodeHandler(app, {
    ...options,
    maxStreams,
    allowedHosts: [...allowedHosts, hostInUrl(host)],
    ownsRequests: true,
    ownsProtocol: true,
  });
  const settings = {
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.max(10, Math.min(headersTimeoutMs, requestTimeoutMs) / 3),
  };
  const secure =
    certificate &&
    (await createSecureServer({ ...settings, handshakeTimeout: headersTimeoutMs, ...pairOf(certificate) }));
  const server = secure ?? createServer(settings);
  server.on("request", http.handle);
  server.on("checkContinue", http.handleExpectation);
  server.maxConnections = maxConnections;
  const connections = new Map<Socket, Client>();
  /** Connections inside the encrypted ones. */
  const encrypted = new Set<Socket>();
  let isDraining = false;
  /** Number of connections since then. */
  let accepted = 0;
  /** Connections that were opened while draining and have sent nothing yet: their first request is on its way. */
  const unused = new Set<Socket>();
  secure?.on("secureConnection", (socket) => {
    if (isDraining) greet(socket);
    encrypted.add(socket);
    socket.on("close", () => encrypted.delete(socket));
  });
  const shares = createShares(maxConnections);
  server.on("connection", (socket: Socket) => {
    // A proxy connects for many machines.
    const client = options.forwarded?.isProxy(socket.remoteAddress) ? ofThisMachine : clientOf(socket);
    if (shares.isUsedUp(client)) return void socket.destroy();
    shares.add(client);
    connections.set(socket, client);
    if (isDraining && !secure) greet(socket);
    socket.on("close", forget);
  });

  /** One function for all: there may be tens of thousands of sockets. */
  function forget(this: Socket): void {
    shares.remove(connections.get(this)!);
    connections.delete(this);
  }

  /** A connection that comes while draining. */
  function greet(socket: Socket): void {
    socket.destroySoon = closeSide;
    unused.add(socket);
    accepted += 1;
    socket.once("close", () => unused.delete(socket));
  }

  /** After its last response Node would destroy the connection; unread bytes would then reset it and cut off the response. */
  function closeGently(): void {
    for (const socket of (secure ? encrypted : connections).keys()) socket.destroySoon = closeSide;
  }

  /** Node accepts one connection in a round of events; those that are not accepted are reset when the server closes. */
  async function acceptWaiting(): Promise<void> {
    let before = -1;
    for (let round = 0; round < maxRounds && before !== accepted; round++) {
      before = accepted;
      await pollOnce();
    }
  }

  try {
    await start(server, host, port);
  } catch (cause) {
    await http.close(0);
    throw cause;
  }
  const { port: taken } = server.address() as AddressInfo;

  return {
    url: `${secure ? "https" : "http"}://${hostInUrl(host)}:${taken}${endpoint}`,
    port: taken,
    server,
    http,
    renew: (renewed) => secure?.setSecureContext(pairOf(renewed)),
    drain() {
      if (isDraining) return;
      isDraining = true;
      server.prependListener("request", ({ socket }) => unused.delete(socket));
      closeGently();
      http.drain();
    },
    async close() {
      const open = secure ? encrypted : connections;
      await pollOnce();
      if (isDraining) await acceptWaiting();
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      // The `close` of an HTTP server destroys connections with a pending response or an unread request.
      NetServer.prototype.close.call(server, () => resolve());
      closeGently();
      const deadline = monotonicMs() + Math.min(graceMs, firstRequestMs);
      while (unused.size > 0 && monotonicMs() < deadline) await new Promise((look) => setTimeout(look, lookMs));
      await http.close(graceMs);
      for (const socket of open.keys()) socket.end();
      const hangUp = setTimeout(() => connections.forEach((_, socket) => socket.destroy()), lingerMs);
      await closed;
      clearTimeout(hangUp);
      // Stops the timer of the request time limits.
      server.close();
    },
  };
}

/** Loaded only if it is needed. */
async function createSecureServer(options: ServerOptions): Promise<SecureServer> {
  const https = await import("node:https");
  return https.createServer(options);
}

function pairOf({ cert, key }: CertificatePair): CertificatePair {
  return { cert, key };
}

/** Resolves when connections and bytes that had arrived have been read from the system. */
async function pollOnce(): Promise<void> {
  // The first call ends the current round of events, the second a whole one.
  for (let count = 0; count < 2; count++) await new Promise((resolve) => setImmediate(resolve));
}

/** Writes pending data first; the connection closes when the client closes its side. */
function closeSide(this: Socket): void {
  this.end();
}

function start(server: NetServer, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", (cause: NodeJS.ErrnoException) => reject(explain(cause, host, port)));
  server.listen(port, host, resolve);
  return promise;
}

function explain(cause: NodeJS.ErrnoException, host: string, port: number): ResourceError {
  const where = `port ${port} of ${quote(host)}`;
  switch (cause.code) {
    case "EADDRINUSE":
      return new ResourceError("unavailable", `${where} is in use by another program; choose another port`, { cause });
    case "EACCES":
      return new ResourceError("denied", `the system refuses ${where}; choose a port above 1023`, { cause });
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new ResourceError("invalid", `this machine has no address ${quote(host)}; choose another host`, { cause });
    default:
      return new ResourceError("unexpected", `cannot listen on ${where}`, { cause });
  }
}
