/** Few connections to a server, opened when they are needed: each lent to one question at a time, and given up when it breaks. */
import { connect, type Socket } from "node:net";
import type pg from "pg";
import { ResourceError } from "../../errors.ts";
import { createRefusals } from "./refusals.ts";
import type { Target, TlsOptions } from "./url.ts";

export interface ConnectionOptions {
  readonly target: Target;
  readonly password?: string | undefined;
  readonly tls: TlsOptions | false;
  readonly timeoutMs: number;
  readonly maxConnections: number;
}

export interface Pool {
  /**
   * Whoever leaves is answered at once. Their connection stays taken until the server has stopped, so that no one can open ever more.
   * After `retire` no one gets the connection again.
   */
  borrow<T>(signal: AbortSignal, use: (client: pg.ClientBase, retire: () => void) => Promise<T>): Promise<T>;
  /** A connection of one's own. */
  attach(signal: AbortSignal): Promise<Attached>;
  toError(cause: unknown): ResourceError;
  /** Afterwards nothing is open. */
  close(): Promise<void>;
}

export interface Attached {
  readonly client: pg.ClientBase;
  /** Hears of what is sent to this channel. */
  listen(channel: string, hear: (payload: string) => void): Promise<void>;
  /** Resolves when it is over, with why. */
  readonly over: Promise<unknown>;
  end(): Promise<void>;
}

const idleMs = 30_000;

/** `source` is whose it is, for the error where "pg" is missing. */
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
      // The server gives up first; this is for one that does not answer at all.
      query_timeout: timeoutMs + 3000,
      keepAlive: true,
      client_encoding: "UTF8",
      // Begin, statement and end travel together.
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
      // A connection that breaks while no one uses it is replaced when it is needed.
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
        throw new ResourceError(
          "unsupported",
          `the source "${source}" needs the package "pg"; install it with "npm install pg"`,
          { cause },
        );
      },
    );
    return loaded;
  }

  async function borrow<T>(
    signal: AbortSignal,
    use: (client: pg.ClientBase, retire: () => void) => Promise<T>,
  ): Promise<T> {
    if (isClosed || signal.aborted) throw cancelled(signal);
    try {
      const client = await untilLeft((await openPool()).connect(), signal, (late) => late.release());
      // Without anyone to hear of it, an error ends the process.
      client.on("error", unheard);
      let isSound = false;
      let isRetired = false;
      const retire = (): void => {
        isRetired = true;
      };
      const work = use(client, retire).then(
        (answer) => {
          isSound = !isRetired;
          return answer;
        },
        (cause: unknown) => {
          isSound = !isRetired && isAnswer(cause);
          throw cause;
        },
      );
      const giveBack = (isWanted: boolean): void => {
        if (isSound && isWanted) client.off("error", unheard);
        client.release(!isSound || !isWanted);
      };
      const answer = untilLeft(work, signal, () => undefined);
      const stop = (): void => cancel(client, target, tls);
      signal.addEventListener("abort", stop, { once: true });
      const over = (): void => {
        signal.removeEventListener("abort", stop);
        giveBack(!signal.aborted);
      };
      work.then(over, over);
      return await answer;
    } catch (cause) {
      throw signal.aborted ? cancelled(signal) : toError(cause);
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
        await untilLeft(client.connect(), signal, () => undefined);
      } catch (cause) {
        void client.end().catch(() => undefined);
        throw signal.aborted ? cancelled(signal) : toError(cause);
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

/** What is no answer of a database breaks the connection. As pg is, it would be thrown at no one, and end the process. */
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
              return (event: string, hear: (...said: unknown[]) => void) =>
                target.on(event, event === "data" ? orDestroy(target, hear) : hear);
            },
          }),
        );
      };
    }
  };
}

function orDestroy(stream: Socket, hear: (...said: unknown[]) => void): (...said: unknown[]) => void {
  return (...said) => {
    try {
      hear(...said);
    } catch {
      stream.destroy(new Error("invalid response of the server"));
    }
  };
}

/** The server said no, and the connection is as good as before. */
function isAnswer(cause: unknown): boolean {
  const { code } = (typeof cause === "object" && cause !== null ? cause : {}) as { readonly code?: unknown };
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && !/^(?:08|57P|25P)/.test(code);
}

function cancelled(signal: AbortSignal): ResourceError {
  return new ResourceError("cancelled", "the question was withdrawn", { cause: signal.reason });
}

/** What comes too late is handed to `late`. */
function untilLeft<T>(promise: Promise<T>, signal: AbortSignal, late: (answer: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(cancelled(signal));
    signal.addEventListener("abort", leave, { once: true });
    promise.then(
      (answer) => {
        signal.removeEventListener("abort", leave);
        if (signal.aborted) late(answer);
        resolve(answer);
      },
      (cause: unknown) => {
        signal.removeEventListener("abort", leave);
        reject(cause);
      },
    );
  });
}

/** Asks the server to stop. It need not be heard: the server also stops by itself, later. */
function cancel(client: pg.ClientBase, { host, port }: Target, tls: TlsOptions | false): void {
  const { processID, secretKey } = client as { readonly processID?: unknown; readonly secretKey?: unknown };
  // In the open, the number would let others stop what runs here.
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
