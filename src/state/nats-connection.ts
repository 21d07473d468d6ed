/** One connection to NATS, with the stream of a server. It never reconnects by itself: who uses it decides what was missed. */
import type { ConsumerMessages, JetStreamClient, JetStreamManager, StreamInfo } from "@nats-io/jetstream";
import { lastingFailure, quote, ResourceError, unavailable, unsupported } from "../errors.ts";
import { isPackageMissing, packageNeeded } from "../lib/missing-package.ts";
import type { NatsTarget } from "./nats-url.ts";

export interface NatsConnection {
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  /** Differs after each start of the server. */
  readonly server: string;
  readonly maxPayloadBytes: number;
  /** Creates the stream if it is missing. */
  stream(): Promise<StreamInfo>;
  /** Rejects with the names of other streams that receive subjects of this one: NATS does not create it beside them. */
  checkSubjects(): Promise<void>;
  consume(afterSeq: number): Promise<ConsumerMessages>;
  /** Resolves when the connection has ended. */
  readonly over: Promise<void>;
  /** Aborted when the connection has ended. */
  readonly ended: AbortSignal;
  /** Never waits for the other side. */
  end(): void;
}

/** What a server has in NATS. Another server has other names, also one with the same schema in another database. */
export interface StreamNames {
  readonly stream: string;
  /** Of all its subjects. */
  readonly prefix: string;
}

export interface NatsPackages {
  readonly transport: typeof import("@nats-io/transport-node");
  readonly jetstream: typeof import("@nats-io/jetstream");
}

const connectMs = 5000;
const requestMs = 3000;
const pingMs = 2000;
const heartbeatMs = 1000;
const keepMs = 600_000;
const deduplicateMs = 120_000;
const keepCount = 1_000_000;
const keepBytes = 256 * 1024 * 1024;
/** Error codes of JetStream. */
const streamNotFound = 10059;
const subjectsOverlap = 10065;
const wrongLastSequence: readonly unknown[] = [10071, 10164];

export async function loadNats(): Promise<NatsPackages> {
  return {
    transport: await load("@nats-io/transport-node", import("@nats-io/transport-node")),
    jetstream: await load("@nats-io/jetstream", import("@nats-io/jetstream")),
  };
}

async function load<T>(name: string, module: Promise<T>): Promise<T> {
  return module.catch((cause: unknown) => {
    if (!isPackageMissing(cause, name)) throw cause;
    throw unsupported(packageNeeded('"server.bus" needs', name), cause);
  });
}

export async function connectNats(
  { transport, jetstream }: NatsPackages,
  target: NatsTarget,
  { stream: name, prefix }: StreamNames,
  instance: string,
): Promise<NatsConnection> {
  const { servers, user, pass, token, isTls, authority, replicas } = target;
  const connection = await transport.connect({
    servers: [...servers],
    name: `pressmark ${instance}`,
    timeout: connectMs,
    reconnect: false,
    pingInterval: pingMs,
    maxPingOut: 2,
    noAsyncTraces: true,
    ...(user !== undefined && { user, pass: pass ?? "" }),
    ...(token !== undefined && { token }),
    ...(isTls && { tls: authority === undefined ? {} : { caFile: authority } }),
  });
  const manager = await jetstream.jetstreamManager(connection, { checkAPI: false, timeout: requestMs });
  const client = jetstream.jetstream(connection, { timeout: requestMs });
  const ending = new AbortController();
  const over = connection.closed().then(() => ending.abort());
  const subject = `${prefix}>`;

  async function checkSubjects(): Promise<void> {
    const found: string[] = [];
    for await (const other of manager.streams.names(subject)) if (other !== name) found.push(quote(other));
    if (found.length === 0) return;
    const [streams, receives, it] =
      found.length === 1 ? ["the stream", "receives", "it"] : ["the streams", "receive", "them"];
    throw lastingFailure(
      `${streams} ${found.join(", ")} in NATS ${receives} the subjects of this server, ${quote(subject)}; if no older instance and no other program uses ${it}, remove ${it}`,
    );
  }

  return {
    client,
    manager,
    server: connection.info?.server_id ?? "",
    maxPayloadBytes: connection.info?.max_payload ?? 0,
    async stream() {
      try {
        return await manager.streams.info(name);
      } catch (cause) {
        if (!isStreamMissing(cause)) throw cause;
      }
      try {
        // Another instance may create it at the same time: that is no error, because the settings are equal.
        return await manager.streams.add({
          name,
          subjects: [subject],
          storage: jetstream.StorageType.File,
          discard: jetstream.DiscardPolicy.Old,
          num_replicas: replicas,
          max_age: toNanos(keepMs),
          max_msgs: keepCount,
          max_bytes: keepBytes,
          duplicate_window: toNanos(deduplicateMs),
        });
      } catch (cause) {
        if (apiCodeOf(cause) === subjectsOverlap) await checkSubjects();
        throw cause;
      }
    },
    checkSubjects,
    async consume(afterSeq) {
      const consumer = await client.consumers.get(name, {
        deliver_policy: jetstream.DeliverPolicy.StartSequence,
        opt_start_seq: afterSeq + 1,
        inactive_threshold: 30_000,
      });
      return consumer.consume({ max_messages: 200, expires: 10_000, idle_heartbeat: heartbeatMs });
    },
    over,
    ended: ending.signal,
    end() {
      connection.close().catch(() => undefined);
    },
  };
}

/** JetStream counts in nanoseconds. */
function toNanos(ms: number): number {
  return ms * 1_000_000;
}

/** Readable by the operator, who gives the user of NATS permissions for the subjects of a schema. */
export function streamNames(schema: string, serverId: string): StreamNames {
  return { stream: `pressmark_${schema}_${serverId}`, prefix: `pressmark.${schema}.${serverId}.` };
}

/** In words for the operator. The library's errors contain addresses, and no credentials. */
export function toNatsError(cause: unknown): ResourceError {
  if (cause instanceof ResourceError) return cause;
  const { name, message } = cause instanceof Error ? cause : { name: "", message: String(cause) };
  if (/authorization|authentication|permissions?/i.test(`${name} ${message}`))
    return lastingFailure('NATS refuses the user, password or token of "server.bus", or their permissions', cause);
  if (/jetstream (?:is )?not enabled|no responders/i.test(`${name} ${message}`))
    return unavailable('NATS offers no JetStream at present; if it stays so, start nats-server with "-js"', cause);
  return unavailable(`NATS is not reachable at present: ${quote(message)}; check "server.bus" and the server`, cause);
}

/** Whether the stream of the server does not exist. */
export function isStreamMissing(cause: unknown): boolean {
  return apiCodeOf(cause) === streamNotFound;
}

/** Whether the message was expected after another one than the last of its subject. */
export function isWrongSequence(cause: unknown): boolean {
  return wrongLastSequence.includes(apiCodeOf(cause));
}

function apiCodeOf(cause: unknown): unknown {
  return (cause as { readonly code?: unknown } | undefined)?.code;
}
