/** Connections to a Redis server, made when they are needed. Sends only commands that read. */
import { readFileSync } from "node:fs";
import type { Redis, RedisOptions as ClientOptions } from "ioredis";
import { cancelled, lastingFailure, unsupported } from "../../errors.ts";
import { isPackageMissing, packageNeeded } from "../../lib/missing-package.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import { isKeyRefused, isWrongType, toRedisError } from "./errors.ts";
import type { RedisTarget } from "./target.ts";

/** Commands of this source. Every one of them only reads; `CONFIG SET` is sent by `enableNotifications` alone. */
export type ReadCommand =
  | "CONFIG GET"
  | "DBSIZE"
  | "EXISTS"
  | "GET"
  | "GETRANGE"
  | "HGET"
  | "HGETALL"
  | "HLEN"
  | "HSCAN"
  | "HSTRLEN"
  | "INFO"
  | "LLEN"
  | "LRANGE"
  | "MEMORY USAGE"
  | "PTTL"
  | "SCAN"
  | "SCARD"
  | "SMEMBERS"
  | "SSCAN"
  | "STRLEN"
  | "TYPE"
  | "XLEN"
  | "XRANGE"
  | "ZCARD"
  | "ZRANGE";

export type Argument = string | number | Buffer;
/** A reply: texts are bytes. */
export type RedisReply = null | number | Buffer | readonly RedisReply[];
export type RedisCommand = readonly [ReadCommand, ...Argument[]];

export interface RedisConnection {
  send(query: RedisCommand, signal: AbortSignal): Promise<RedisReply>;
  /** Sends all at once; the replies are in the same order. Null for a value that has another type by now, or that the user may not read; throws any other error. */
  sendAll(queries: readonly RedisCommand[], signal: AbortSignal): Promise<RedisReply[]>;
  /** Sets which changes the server announces. */
  enableNotifications(flags: string, signal: AbortSignal): Promise<void>;
  /** A connection of its own that receives what is published on channels of this pattern. */
  subscribe(
    pattern: string,
    receive: (channel: Buffer, message: Buffer) => void,
    signal: AbortSignal,
  ): Promise<Subscription>;
  /** Nothing is open afterwards. */
  close(): Promise<void>;
}

interface Subscription {
  /** Rejects when the connection has ended. */
  readonly broken: Promise<never>;
  close(): void;
}

export interface ConnectionSettings {
  readonly target: RedisTarget;
  readonly timeoutMs: number;
}

export function createRedisConnection({ target, timeoutMs }: ConnectionSettings): RedisConnection {
  let loaded: Promise<typeof Redis> | undefined;
  let shared: Promise<Redis> | undefined;
  /** Ends when the source is closed. */
  const lifetime = new AbortController();

  function load(): Promise<typeof Redis> {
    loaded ??= import("ioredis").then(
      (module) => module.Redis,
      (cause: unknown) => {
        loaded = undefined;
        if (!isPackageMissing(cause, "ioredis")) throw cause;
        throw unsupported(packageNeeded('the source "redis" needs', "ioredis"), cause);
      },
    );
    return loaded;
  }

  /** One that is connected; it never reconnects by itself, so that no reply belongs to another connection than its command. */
  async function connect(more: ClientOptions, signal: AbortSignal): Promise<Redis> {
    const Client = await load();
    if (signal.aborted) throw cancelled(signal.reason);
    const client = new Client({
      host: target.host,
      port: target.port,
      db: target.database,
      ...(target.path !== undefined && { path: target.path }),
      ...(target.username !== undefined && { username: target.username }),
      ...(target.password !== undefined && { password: target.password }),
      ...(target.isTls && { tls: target.ca === undefined ? {} : { ca: readAuthority(target.ca) } }),
      protocol: 2,
      lazyConnect: true,
      retryStrategy: null,
      enableReadyCheck: false,
      enableOfflineQueue: false,
      autoResubscribe: false,
      disableClientInfo: true,
      maxRetriesPerRequest: 0,
      connectTimeout: timeoutMs,
      ...more,
    });
    // An error event without a listener is printed. It comes before `connect` fails with a vaguer one. If `SELECT` fails, it is the only
    // sign: the client would go on with database 0.
    let failure: unknown;
    client.on("error", (cause: unknown) => (failure ??= cause));
    try {
      await unlessAborted(client.connect(), signal, (reason) => cancelled(reason));
      if (failure !== undefined) throw failure;
      return client;
    } catch (cause) {
      client.disconnect();
      throw toRedisError(signal.aborted ? cause : (failure ?? cause));
    }
  }

  function open(): Promise<Redis> {
    if (shared) return shared;
    // A server that is stuck does not block the calls that come later.
    const opening = connect({ socketTimeout: timeoutMs }, lifetime.signal).then((client) => {
      client.once("end", forget);
      return client;
    });
    function forget(): void {
      if (shared === opening) shared = undefined;
    }
    shared = opening;
    opening.catch(forget);
    return opening;
  }

  async function withClient<T>(signal: AbortSignal, use: (client: Redis) => Promise<T>): Promise<T> {
    if (lifetime.signal.aborted || signal.aborted) throw cancelled(signal.reason);
    try {
      return await unlessAborted(open().then(use), signal, (reason) => cancelled(reason));
    } catch (cause) {
      throw toRedisError(cause);
    }
  }

  return {
    send: (query, signal) =>
      withClient(signal, (client) => client.callBuffer(...wordsOf(query)) as Promise<RedisReply>),

    async sendAll(queries, signal) {
      if (queries.length === 0) return [];
      const results = await withClient(signal, (client) => {
        const pipeline = client.pipeline();
        for (const query of queries) pipeline.callBuffer(...wordsOf(query));
        return pipeline.exec();
      });
      return (results ?? []).map(([cause, reply]) => {
        const error = cause && toRedisError(cause);
        if (error && !isWrongType(error) && !isKeyRefused(error)) throw error;
        return error ? null : (reply as RedisReply);
      });
    },

    async enableNotifications(flags, signal) {
      await withClient(signal, (client) => client.callBuffer("CONFIG", "SET", "notify-keyspace-events", flags));
    },

    async subscribe(pattern, receive, signal) {
      const client = await connect({ keepAlive: 10_000 }, AbortSignal.any([signal, lifetime.signal]));
      const broken = new Promise<never>((_, reject) => {
        let failure: unknown;
        client.on("error", (cause: unknown) => (failure ??= cause));
        client.once("end", () => reject(toRedisError(failure ?? new Error("Connection is closed."))));
      });
      broken.catch(() => undefined);
      const close = (): void => client.disconnect();
      client.on("pmessageBuffer", (_pattern: string, channel: Buffer, message: Buffer) => receive(channel, message));
      try {
        await unlessAborted(client.psubscribe(pattern), signal);
      } catch (cause) {
        close();
        throw toRedisError(cause);
      }
      return { broken, close };
    },

    async close() {
      lifetime.abort();
      (await shared?.catch(() => undefined))?.disconnect();
    },
  };
}

function readAuthority(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw lastingFailure('the file that "ca" names cannot be read; check its path and its permissions', cause);
  }
}

function wordsOf([command, ...rest]: RedisCommand): [string, ...Argument[]] {
  const [first, ...subcommand] = command.split(" ");
  return [first!, ...subcommand, ...rest];
}
