/** Answers `/health/live` and `/health/ready`: for everyone whether, and for the owner what is not ready and why. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Runtime } from "../source.ts";
import type { HealthCheck } from "../transport/node-handler.ts";
import { unkept } from "../transport/send-json.ts";
import type { Certificate } from "./certificate.ts";
import { indexStatusOf } from "./index-status.ts";
import type { UnopenedMount } from "./open-mounts.ts";
import type { Server } from "./open-server.ts";
import { sharedHealth, type SharedHealthSource } from "./shared-health.ts";

interface HealthOptions {
  readonly server: Pick<Server, "mounts" | "faulty" | "index" | "health"> & {
    readonly shared?: SharedHealthSource | undefined;
  };
  /** The certificate in use. Undefined without HTTPS. */
  certificate(): Pick<Certificate, "validFrom" | "validTo"> | undefined;
  /** Whether the owner sent a request whose Host and Origin are allowed. */
  isOwner(request: IncomingMessage, response: ServerResponse, path: string): Promise<boolean>;
  readonly runtime: Pick<Runtime, "now" | "log">;
}

export interface Health {
  /** The check at a path, if there is one. */
  find(path: string): HealthCheck | undefined;
  /** From now on the server is not ready. */
  stop(): void;
}

/** Something that is not ready. */
interface UnreadyPart {
  readonly part: "server" | "mount" | "index" | "certificate" | "database" | "bus";
  readonly name?: string;
  readonly state: string;
  readonly problem?: string | undefined;
}

interface Readiness {
  /** Whether to send requests here. */
  readonly ready: boolean;
  /** "degraded": it serves, and something is wrong. */
  readonly state: "ready" | "degraded" | "not ready";
  readonly notReady: readonly UnreadyPart[];
}

const livePath = "/health/live";
export const readyPath = "/health/ready";
const allowed = "GET, HEAD";
/** A check of the mounts begins when someone asks, at most this often, however many ask. */
const mountCheckMs = 30_000;
/** Not ready yet, and nothing is wrong. */
const passingStates: ReadonlySet<string> = new Set(["checking", "starting", "indexing"]);

export function createHealth({ server, certificate, isOwner, runtime }: HealthOptions): Health {
  let isStopping = false;

  /** From what is known: no source is called. */
  function readiness(): Readiness {
    const unusable: UnreadyPart[] = [];
    if (isStopping) unusable.push({ part: "server", state: "shutting down" });
    if (server.mounts.length === 0) unusable.push({ part: "server", state: "nothing to serve" });
    const notReady = [
      ...unusable,
      ...unreadyMounts(server),
      ...unreadyIndex(server),
      ...unreadyShared(server),
      ...unreadyCertificate(),
    ];
    const hasFault = notReady.some(({ state, problem }) => problem !== undefined || !passingStates.has(state));
    const ready = unusable.length === 0;
    return { ready, state: !ready ? "not ready" : hasFault ? "degraded" : "ready", notReady };
  }

  function unreadyCertificate(): UnreadyPart[] {
    const { validFrom, validTo } = certificate() ?? {};
    const now = runtime.now();
    if (validTo !== undefined && validTo <= now) return [{ part: "certificate", state: "expired" }];
    return validFrom !== undefined && validFrom > now ? [{ part: "certificate", state: "not valid yet" }] : [];
  }

  async function answerReady(request: IncomingMessage, response: ServerResponse, isGuarded: boolean): Promise<void> {
    server.health.refresh(mountCheckMs);
    const mayKnow = isGuarded && (await isOwner(request, response, readyPath));
    const state = readiness();
    send(request, response, state.ready ? 200 : 503, mayKnow ? state : { ready: state.ready });
  }

  const checks = new Map<string, HealthCheck>([
    [livePath, (request, response) => send(request, response, 200, { live: true })],
    [
      readyPath,
      (request, response, isGuarded) =>
        void answerReady(request, response, isGuarded).catch((cause: unknown) => {
          runtime.log("error", "a health check failed", { cause });
          send(request, response, 500, { ready: false });
        }),
    ],
  ]);

  return {
    find: (path) => checks.get(path),
    stop() {
      isStopping = true;
    },
  };
}

function unreadyMounts({ mounts, faulty, health }: HealthOptions["server"]): UnreadyPart[] {
  const open = mounts.flatMap((mount): UnreadyPart[] => {
    const { state, problem } = health.stateOf(mount);
    return state === "ok" ? [] : [{ part: "mount", name: mount.name, state, problem }];
  });
  return [...open, ...faulty.filter(({ isExpected }) => !isExpected).map(toUnready)];
}

function toUnready({ name, problems, isKept }: UnopenedMount): UnreadyPart {
  return {
    part: "mount",
    name,
    state: isKept ? "as before the config changed" : "left out",
    problem: problems.join("; "),
  };
}

/** Empty if nothing is searched. */
function unreadyIndex({ mounts, index }: HealthOptions["server"]): UnreadyPart[] {
  if (!mounts.some(({ name }) => index.ready(name) !== undefined)) return [];
  const { state, problem } = indexStatusOf(index);
  return state === "complete" && !problem ? [] : [{ part: "index", state, problem: problem?.message }];
}

/** Empty for a server that shares nothing. */
function unreadyShared({ shared }: HealthOptions["server"]): UnreadyPart[] {
  if (!shared) return [];
  const { database, bus } = sharedHealth(shared);
  const parts = [
    { part: "database", ...database },
    { part: "bus", state: bus.state, problem: bus.problem },
  ] as const;
  return parts.filter(({ state }) => state !== "ok");
}

/** Methods are checked here, because nothing else has checked the request. */
function send({ method }: IncomingMessage, response: ServerResponse, status: number, body: object): void {
  if (response.headersSent || response.destroyed) return;
  if (method !== "GET" && method !== "HEAD") {
    response.writeHead(405, { ...unkept, Allow: allowed, "Content-Length": 0 }).end();
    return;
  }
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, {
    ...unkept,
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(text),
  });
  response.end(method === "HEAD" ? undefined : text);
}
