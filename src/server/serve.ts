/** Serves the mounts of a program with one call. */
import { join } from "node:path";
import { invalid, quote } from "../errors.ts";
import { packageFolder } from "../lib/package-folder.ts";
import type { Caller } from "../resources.ts";
import { listen, type ListenOptions } from "../transport/listen.ts";
import { serveStdio, type StdioOptions } from "../transport/stdio.ts";
import { type App, type AppOptions, createApp } from "./create-app.ts";
import { createPickerPage } from "./picker-page.ts";
import { defaultPort } from "./server-url.ts";

export interface ServeOptions extends AppOptions, Omit<ListenOptions, "port" | "log" | "elsewhere" | "isPage"> {
  /** 0 chooses a free port. Default: 7357. */
  readonly port?: number;
  /** False: the page to pick resources is not served at "/". */
  readonly page?: boolean;
}

export interface ServeStdioOptions extends AppOptions, Omit<StdioOptions, "caller"> {
  /** Serves the host that started this program, on standard input and output. */
  readonly transport: "stdio";
}

export interface Serving extends App {
  /** URL for clients. */
  readonly url: string;
}

export interface ServingStdio extends App {
  /** Resolves when the host has disconnected and everything is closed. */
  readonly closed: Promise<void>;
}

/**
 * Serves mounts over HTTP, or with `transport: "stdio"` to the host that started the program. Over HTTP everyone on this machine is the
 * owner; for other machines, `identify` must tell who a caller is.
 */
export function serve(options: ServeStdioOptions): Promise<ServingStdio>;
export function serve(options: ServeOptions): Promise<Serving>;
export async function serve(options: ServeOptions | ServeStdioOptions): Promise<Serving | ServingStdio> {
  return "transport" in options ? serveHost(options) : serveHttp(options);
}

async function serveHttp(options: ServeOptions): Promise<Serving> {
  const { host = "127.0.0.1", port = defaultPort, allowedHosts = [], allowedOrigins = [], page = true } = options;
  const isLocal = host === "localhost" || host === "::1" || host.startsWith("127.");
  if (!isLocal && !options.identify)
    throw invalid(
      `the address ${quote(host)} can be reached from other machines: pass "identify", which returns the caller of a request`,
    );
  const app = await createApp({ isPrivate: options.identify !== undefined, ...options });
  // Other names and origins mean that others connect, perhaps through a proxy.
  const isOwner = allowedHosts.length === 0 && allowedOrigins.length === 0 && !options.forwarded;
  const caller: Caller = { id: "anonymous", ...(isOwner && { owner: true }) };
  const picker =
    page && createPickerPage({ folder: () => join(packageFolder(), "dist", "picker"), log: app.runtime.log });
  try {
    const listening = await listen(app.protocol, {
      identify: () => caller,
      isOneCaller: !options.identify,
      ...options,
      host,
      port,
      log: app.runtime.log,
      ...(picker && { elsewhere: picker, isPage: (path) => path === "/" }),
    });
    if (!options.identify) void app.prepare(caller);
    return {
      ...app,
      url: listening.url,
      async close() {
        await listening.close();
        await app.close();
      },
    };
  } catch (cause) {
    await app.close();
    throw cause;
  }
}

async function serveHost(options: ServeStdioOptions): Promise<ServingStdio> {
  const app = await createApp(options);
  const caller = { id: "local", owner: true };
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  void app.prepare(caller);
  const closed = serveStdio(app.protocol, { ...options, caller, signal }).then(() => app.close());
  return {
    ...app,
    closed,
    async close() {
      stop.abort();
      await closed;
    },
  };
}
