/** Serves the mounts of a program with one call. */
import { join } from "node:path";
import { invalid, quote } from "../errors.ts";
import { canonicalAddress, isLoopbackHost, withoutBrackets } from "../lib/networks.ts";
import { packageFolder } from "../lib/package-folder.ts";
import type { Caller } from "../resources.ts";
import { listen, type ListenOptions } from "../transport/listen.ts";
import { serveStdio, type StdioOptions } from "../transport/stdio.ts";
import { checkOptions, serveShape, serveStdioShape } from "./app-options.ts";
import { type App, type AppOptions, openApp } from "./create-app.ts";
import { createPickerPage } from "./picker-page.ts";
import { defaultPort } from "./server-url.ts";

export interface ServeOptions
  extends AppOptions, Omit<ListenOptions, "port" | "log" | "elsewhere" | "isPage" | "healthCheck" | "records"> {
  /** Serves HTTP. */
  readonly transport?: "http";
  /** 0 chooses a free port. Digits may be a string, as in an environment variable. Default: 7357. */
  readonly port?: number | string;
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

/** The options and the result of `serve` for each transport. */
export interface ServeTransports {
  readonly http: { readonly options: ServeOptions; readonly result: Serving };
  readonly stdio: { readonly options: ServeStdioOptions; readonly result: ServingStdio };
}

/**
 * Serves mounts over HTTP, or with `transport: "stdio"` to the host that started the program. Over HTTP everyone on this machine is the
 * owner; for other machines, `identify` must tell who a caller is. Throws as `createApp` does.
 */
export async function serve<Transport extends keyof ServeTransports = "http">(
  options: ServeTransports[Transport]["options"] & { readonly transport?: Transport },
): Promise<ServeTransports[Transport]["result"]> {
  const given: ServeOptions | ServeStdioOptions = options;
  return given?.transport === "stdio" ? serveHost(given) : serveHttp(given);
}

async function serveHttp(options: ServeOptions): Promise<Serving> {
  const problems = await checkOptions(options, serveShape);
  const { host = "127.0.0.1", port = defaultPort, allowedHosts = [], allowedOrigins = [], page = true } = options;
  if (problems.length === 0 && !isLoopbackHost(host) && !options.identify)
    throw invalid(
      `the address ${quote(host)} can be reached from other machines: pass "identify", which returns the caller of a request`,
    );
  const app = await openApp({ isPrivate: options.identify !== undefined, ...options }, problems);
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
      host: canonicalAddress(withoutBrackets(host)) ?? host,
      port: Number(port),
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
  const app = await openApp(options, await checkOptions(options, serveStdioShape));
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
