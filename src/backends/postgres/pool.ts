/** A small pool of connections, opened on demand: each used by one query at a time, and closed when it breaks. */
import { connect, type Socket } from "node:net";
import type pg from "pg";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import { cancelled, ResourceError, unsupported } from "../../errors.ts";
import { createRefusals } from "./refusals.ts";
import type { Target, TlsOptions } from "./url.ts";

export interface ConnectionOptions {
  readonly target: Target;
  readonly password?: string;
  readonly tls: TlsOptions | false;
  readonly timeoutMs: number;
  readonly maxConnections: number;
}

interface Pool {
  /**
   * A cancelled caller returns immediately. The connection stays in use until the server has stopped, so that cancelling cannot open more
   * and more connections. After `retire` the connection is not reused.
   */
  borrow<T>(signal: AbortSignal, use: (client: pg.ClientBase, retire: () => void) => Promise<T>): Promise<T>;
  /** A separate connection. */
  attach(signal: AbortSignal): Promise<Attached>;
  toError(cause: unknown): ResourceError;
  /** Nothing is open after it resolves. */
  close(): Promise<void>;
}

export interface Attached {
  readonly client: pg.ClientBase;
  /** Receives notifications of this channel. */
  listen(channel: string, hear: (payload: string) => void): Promise<void>;
  /** Resolves with the reason when the connection has ended. */
  readonly over: Promise<unknown>;
  end(): Promise<void>;
}

const idleMs = 30_000;

/** `source` is named in the error if "pg" is missing. */
export function createPool(source: string, options: ConnectionOptions): Pool {
  const { target, tls, timeoutMs, maxConnections } = options;
  const password = options.password ?? target.password;
  const { toError } = createRefusals({ timeoutMs, secrets: password ? [password, encodeURIComponent(password)] : [] });
  const connectMs = Math.min(8000, Math.max(1000, timeoutMs));
  let loaded: Promise<typeof pg> | undefined;
  let pool: Promise<pg.Pool> | undefined;
  let isClosed = false;

  function settings(): pg.ClientConfig {
    return {
      host: target.host,
      port: target.port,
      database: target.database,
      user: target.user,
      password,
      ssl: tls,
      application_name: target.applicationName ?? "pressmark",
      connectionTimeoutMillis: connectMs,
      // The server's own limit comes first; this one is for a server that does not respond at all.
      query_timeout: timeoutMs + 3000,
      keepAlive: true,
      client_encoding: "UTF8",
      // Begin, statement and end are sent together.
      pipeline: true,
    } as pg.ClientConfig;
  }

  function openPool(): Promise<pg.Pool> {
    pool ??= load().then(({ Pool, Client }) => {
      const opened = new Pool({
        ...settings(),
        Client: guarded(Client),
        max: maxConnections,
        idleTimeoutMillis: idleMs,
        allowExitOnIdle: true,
      });
      // A connection that breaks while idle is replaced when it is needed.
      opened.on("error", unheard);
      return opened;
    });
    return pool;
  }

  function load(): Promise<typeof pg> {
    loaded ??= import("pg").then(
      (module) => module.default,
      (cause: unknown) => {
        loaded = undefined;
        pool = undefined;
        throw unsupported(`the source "${source}" needs the package "pg"; run: npm install pg`, cause);
      },
    );
    return loaded;
  }

  async function borrow<T>(
    signal: AbortSignal,
    use: (client: pg.ClientBase, retire: () => void) => Promise<T>,
  ): Promise<T> {
    if (isClosed || signal.aborted) throw cancelled(signal.reason);
    try {
      const connecting = (await openPool()).connect();
      const client = await unlessAborted(connecting, signal).catch((cause: unknown) => {
        // A connection that is established later goes back to the pool.
        connecting.then((late) => late.release()).catch(unheard);
        throw cause;
      });
      // An error event without a listener ends the process.
      client.on("error", unheard);
      let isSound = false;
      let isRetired = false;
      const retire = (): void => {
        isRetired = true;
      };
      const work = use(client, retire).then(
        (result) => {
          isSound = !isRetired;
          return result;
        },
        (cause: unknown) => {
          isSound = !isRetired && isServerError(cause);
          throw cause;
        },
      );
      const release = (isWanted: boolean): void => {
        if (isSound && isWanted) client.off("error", unheard);
        client.release(!isSound || !isWanted);
      };
      const result = unlessAborted(work, signal);
      const stop = (): void => cancel(client, target, tls);
      signal.addEventListener("abort", stop, { once: true });
      const over = (): void => {
        signal.removeEventListener("abort", stop);
        release(!signal.aborted);
      };
      work.then(over, over);
      return await result;
    } catch (cause) {
      throw signal.aborted ? cancelled(signal.reason) : toError(cause);
    }
  }

  return {
    borrow,
    toError,

    async attach(signal) {
      const client = new (guarded((await load()).Client))(settings());
      const { promise: over, resolve } = Promise.withResolvers<unknown>();
      const channels = new Map<string, (payload: string) => void>();
      client.on("error", resolve);
      client.on("end", () => resolve(undefined));
      client.on("notification", ({ channel, payload = "" }) => channels.get(channel)?.(payload));
      try {
        await unlessAborted(client.connect(), signal);
      } catch (cause) {
        void client.end().catch(() => undefined);
        throw signal.aborted ? cancelled(signal.reason) : toError(cause);
      }
      return {
        client,
        over,
        async listen(channel, hear) {
          channels.set(channel, hear);
          try {
            await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
          } catch (cause) {
            throw toError(cause);
          }
        },
        async end() {
          await client.end().catch(() => undefined);
        },
      };
    },

    async close() {
      isClosed = true;
      const opened = await pool?.catch(() => undefined);
      pool = undefined;
      await opened?.end();
    },
  };
}

function unheard(): void {}

/** An invalid response breaks the connection. Without this, pg would throw an uncaught error that ends the process. */
function guarded(Client: typeof pg.Client): typeof pg.Client {
  return class extends Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      const { connection } = this as unknown as { readonly connection: { attachListeners(stream: Socket): void } };
      const attach = connection.attachListeners.bind(connection);
      connection.attachListeners = (stream) => {
        attach(
          new Proxy(stream, {
            get(target, key) {
              const value: unknown = Reflect.get(target, key);
              if (key !== "on") return typeof value === "function" ? value.bind(target) : value;
              return (event: string, hear: (...given: unknown[]) => void) =>
                target.on(event, event === "data" ? orDestroy(target, hear) : hear);
            },
          }),
        );
      };
    }
  };
}

function orDestroy(stream: Socket, hear: (...given: unknown[]) => void): (...given: unknown[]) => void {
  return (...given) => {
    try {
      hear(...given);
    } catch {
      stream.destroy(new Error("invalid response of the server"));
    }
  };
}

/** The server returned an error, and the connection is still usable. */
function isServerError(cause: unknown): boolean {
  const { code } = (typeof cause === "object" && cause !== null ? cause : {}) as { readonly code?: unknown };
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && !/^(?:08|57P|25P)/.test(code);
}

/** Sends a cancel request. It may be lost: the server also stops at its own time limit. */
function cancel(client: pg.ClientBase, { host, port }: Target, tls: TlsOptions | false): void {
  const { processID, secretKey } = client as { readonly processID?: unknown; readonly secretKey?: unknown };
  // Without TLS on a network, the secret number would let others cancel queries.
  if (tls !== false || typeof processID !== "number" || typeof secretKey !== "number") return;
  const request = Buffer.alloc(16);
  request.writeInt32BE(16, 0);
  request.writeInt32BE(80_877_102, 4);
  request.writeInt32BE(processID, 8);
  request.writeInt32BE(secretKey, 12);
  const socket = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.setTimeout(5000, () => socket.destroy());
  socket.on("error", () => undefined);
  socket.end(request);
  socket.unref();
}
