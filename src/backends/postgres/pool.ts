/** A small pool of connections, opened on demand: each used by one query at a time, and closed when it breaks. */
import { packageNeeded } from "../../lib/missing-package.ts";
import { connect, isIP, type Socket } from "node:net";
import { userInfo } from "node:os";
import { connect as connectTls } from "node:tls";
import type pg from "pg";
import { isDoneWithin } from "../../lib/is-done-within.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import { cancelled, ResourceError, unsupported } from "../../errors.ts";
import { createRefusals } from "./refusals.ts";
import type { Target, TlsAttempts, TlsOptions } from "./url.ts";

export interface ConnectionOptions {
  readonly target: Target;
  readonly password?: string;
  readonly tls: TlsAttempts;
  readonly timeoutMs: number;
  readonly maxConnections: number;
}

export interface PoolUsage {
  /** Open connections, without attached ones. */
  readonly open: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
  readonly max: number;
}

interface Pool {
  readonly usage: PoolUsage;
  /**
   * A cancelled caller returns immediately. The connection stays in use until the server has stopped, so that cancelling cannot open more
   * and more connections; `freed` is called when others can use it, or it turned out that none is used. After `retire` the connection is not
   * reused.
   */
  borrow<T>(
    signal: AbortSignal,
    use: (client: pg.ClientBase, retire: () => void) => Promise<T>,
    freed?: () => void,
  ): Promise<T>;
  /** A separate connection. */
  attach(signal: AbortSignal): Promise<Attached>;
  toError(cause: unknown): ResourceError;
  /** Waits for calls that are not cancelled. Nothing is open after it resolves, except attached connections. */
  close(): Promise<void>;
}

export interface Attached {
  readonly client: pg.ClientBase;
  /** Receives notifications of this channel. */
  listen(channel: string, hear: (payload: string) => void): Promise<void>;
  /** Resolves with the reason when the connection has ended. */
  readonly over: Promise<unknown>;
  end(): Promise<void>;
  /** Ends it without waiting for a server that may be gone. */
  abandon(): void;
}

const idleMs = 30_000;
/** How long `close` waits for the server to stop what was cancelled. */
const closeMs = 1000;

/** `user` begins the error if "pg" is missing: `the source "postgres"`. */
export function createPool(user: string, options: ConnectionOptions): Pool {
  const { target, tls, timeoutMs, maxConnections } = options;
  const password = options.password ?? target.password;
  const { toError } = createRefusals({ timeoutMs, secrets: password ? [password, encodeURIComponent(password)] : [] });
  const connectMs = Math.min(8000, Math.max(1000, timeoutMs));
  let loaded: Promise<typeof pg> | undefined;
  let pool: Promise<pg.Pool> | undefined;
  let openedPool: pg.Pool | undefined;
  let chosen: Promise<TlsOptions | false> | undefined;
  let isClosed = false;
  /** Clients of the pool with a socket. */
  const open = new Set<pg.Client>();
  /** Clients whose caller waits for a result. */
  const awaited = new Set<pg.ClientBase>();

  /** The class of the clients, each of which is in `open` until it has ended. */
  function tracked(Client: typeof pg.Client): typeof pg.Client {
    return class extends guarded(Client) {
      constructor(config?: string | pg.ClientConfig) {
        super(config);
        open.add(this);
        this.once("end", () => open.delete(this));
      }
    };
  }

  /** The first way to connect that the server accepts, found by connecting. Kept until the server refuses it. */
  function chooseTls(): Promise<TlsOptions | false> {
    chosen ??= (async () => {
      const { Client } = await load();
      for (const attempt of tls.slice(0, -1)) {
        const client = new (tracked(Client))(settings(attempt));
        client.on("error", unheard);
        try {
          await client.connect();
          return attempt;
        } catch (cause) {
          if (!isRefusedWay(cause)) throw cause;
        } finally {
          void client.end().catch(unheard);
        }
      }
      return tls.at(-1) ?? false;
    })();
    chosen.catch(() => (chosen = undefined));
    return chosen;
  }

  /** After a failure to connect: the server may have changed what it accepts. */
  async function forgetChoice(cause: unknown): Promise<void> {
    if (tls.length === 1 || !isRefusedWay(cause)) return;
    const former = pool;
    chosen = undefined;
    pool = undefined;
    await (await former)?.end().catch(unheard);
  }

  function settings(ssl: TlsOptions | false): pg.ClientConfig {
    return {
      host: target.host,
      port: target.port,
      database: target.database,
      user: target.user,
      password,
      ssl,
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
    pool ??= Promise.all([load(), chooseTls()]).then(([{ Pool, Client }, ssl]) => {
      const opened = new Pool({
        ...settings(ssl),
        Client: tracked(Client),
        max: maxConnections,
        idleTimeoutMillis: idleMs,
        allowExitOnIdle: true,
      });
      // A connection that breaks while idle is replaced when it is needed.
      opened.on("error", unheard);
      openedPool = opened;
      return opened;
    });
    pool.catch(() => (pool = undefined));
    return pool;
  }

  function load(): Promise<typeof pg> {
    loaded ??= import("pg").then(
      ({ default: module }) => {
        // As in libpq, the default is the user of the operating system, also if no variable names it.
        module.defaults.user ??= systemUser();
        return module;
      },
      (cause: unknown) => {
        loaded = undefined;
        throw unsupported(packageNeeded(`${user} needs`, "pg"), cause);
      },
    );
    return loaded;
  }

  async function borrow<T>(
    signal: AbortSignal,
    use: (client: pg.ClientBase, retire: () => void) => Promise<T>,
    freed = unheard,
  ): Promise<T> {
    let isFree: Promise<unknown> | undefined;
    try {
      if (isClosed || signal.aborted) throw cancelled(signal.reason);
      const connecting = (await unlessAborted(openPool(), signal)).connect();
      const client = await unlessAborted(connecting, signal).catch((cause: unknown) => {
        // A connection that is established later goes back to the pool.
        isFree = connecting.then((late) => late.release()).catch(unheard);
        void forgetChoice(cause);
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
      const stop = (): void => {
        awaited.delete(client);
        cancel(client, target);
      };
      awaited.add(client);
      signal.addEventListener("abort", stop, { once: true });
      const over = (): void => {
        awaited.delete(client);
        signal.removeEventListener("abort", stop);
        release(!signal.aborted);
      };
      isFree = work.then(over, over);
      return await result;
    } catch (cause) {
      throw signal.aborted ? cancelled(signal.reason) : toError(cause);
    } finally {
      if (isFree) void isFree.then(freed);
      else freed();
    }
  }

  return {
    get usage() {
      return { open: openedPool?.totalCount ?? 0, waiting: openedPool?.waitingCount ?? 0, max: maxConnections };
    },
    borrow,
    toError,

    async attach(signal) {
      const ssl = await unlessAborted(chooseTls(), signal).catch((cause: unknown) => {
        throw signal.aborted ? cancelled(signal.reason) : toError(cause);
      });
      const client = new (guarded((await load()).Client))(settings(ssl));
      const { promise: over, resolve } = Promise.withResolvers<unknown>();
      const channels = new Map<string, (payload: string) => void>();
      client.on("error", resolve);
      client.on("end", () => resolve(undefined));
      client.on("notification", ({ channel, payload = "" }) => channels.get(channel)?.(payload));
      try {
        await unlessAborted(client.connect(), signal);
      } catch (cause) {
        // It may still wait for a server that does not respond.
        streamOf(client).destroy();
        void forgetChoice(cause);
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
        abandon() {
          streamOf(client).destroy();
          resolve(undefined);
        },
      };
    },

    async close() {
      isClosed = true;
      const last = pool;
      pool = undefined;
      const ended = (async () => {
        await chosen?.catch(unheard);
        const opened = await last?.catch(unheard);
        await opened?.end();
      })();
      if (await isDoneWithin(ended, closeMs)) return;
      for (const client of open) if (!awaited.has(client)) streamOf(client).destroy();
      // The work of a cancelled call may not end soon.
      if (awaited.size > 0) await ended;
    },
  };
}

function unheard(): void {}

function streamOf(client: pg.ClientBase): Socket {
  return (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream;
}

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

/** Whether connecting in another way, with or without TLS, may succeed: not if the password is wrong or nothing listens. */
function isRefusedWay(cause: unknown): boolean {
  const { code, message } = (typeof cause === "object" && cause !== null ? cause : {}) as NodeJS.ErrnoException;
  return (
    code === "28000" || code === "EPROTO" || /^ERR_(?:SSL|TLS)_/.test(code ?? "") || / SSL conn/.test(message ?? "")
  );
}

function systemUser(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

/** Sends a cancel request. It may be lost: the server also stops at its own time limit. */
function cancel(client: pg.ClientBase, { host, port }: Target): void {
  const { processID, secretKey, ssl } = client as unknown as Readonly<Record<string, unknown>>;
  if (typeof processID !== "number" || typeof secretKey !== "number") return;
  const request = Buffer.alloc(16);
  request.writeInt32BE(16, 0);
  request.writeInt32BE(80_877_102, 4);
  request.writeInt32BE(processID, 8);
  request.writeInt32BE(secretKey, 12);
  const socket = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.setTimeout(5000, () => socket.destroy());
  socket.on("error", () => undefined);
  socket.unref();
  if (!ssl) return void socket.end(request);
  // Without TLS on a network, the secret number would let others cancel queries.
  socket.write(askForTls);
  socket.once("data", (answer) => {
    if (answer.toString("latin1") !== "S") return void socket.destroy();
    const servername = isIP(host) === 0 ? host : undefined;
    const encrypted = connectTls({ socket, host, servername, ...(ssl as TlsOptions) }, () => encrypted.end(request));
    encrypted.on("error", () => socket.destroy());
    encrypted.unref();
  });
}

/** The server answers with S if it continues with TLS. */
const askForTls = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
