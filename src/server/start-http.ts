/** The house on the network. */
import type { AddressInfo } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { packageFolder } from "../config/package-folder.ts";
import { ResourceError } from "../errors.ts";
import { createProtocol } from "../protocol/create-protocol.ts";
import type { Caller } from "../resources.ts";
import { createActionEndpoint } from "../transport/action-endpoint.ts";
import { listen } from "../transport/listen.ts";
import { createFeatures } from "./features.ts";
import { type Server, type OpenServerOptions, openServer } from "./open-server.ts";
import { createServerMetrics } from "./server-metrics.ts";
import { createPickerPage } from "./picker-page.ts";
import type { TokenGate } from "./token-gate.ts";

export const defaultPort = 7357;
const prepareMs = 50;

export interface HttpServerOptions extends Omit<OpenServerOptions, "live"> {
  /** What is not said here the config says; otherwise 127.0.0.1. */
  readonly host?: string | undefined;
  /** 0 takes any free one; 7357 unless this or the config says another. */
  readonly port?: number | undefined;
  /** Names that clients may know this machine by, beside its own. */
  readonly allowedHosts: readonly string[];
  /** A file that holds the token which callers must send; what the environment or the config says unless this is said. */
  readonly tokenFile?: string | undefined;
  readonly version: string;
  /** False offers no tools, whatever the config says. */
  readonly tools?: boolean | undefined;
  /** Where the picker's files are; with the package unless said. */
  readonly pickerFolder?: string;
}

export interface HttpServer {
  /** Where MCP is served. */
  readonly url: string;
  /** Where people see, search and choose what is served. */
  readonly picker: string;
  /** The environment variable that hosts may take the token from, where callers must send one. */
  readonly tokenVariable?: string;
  /** The picker's address as a person may be told it: with a code that is good once, where callers must say who they are. */
  invite(): string;
  /** The address that is listened on, as it was named. */
  readonly host: string;
  /** Whether only this machine can reach it. */
  readonly loopback: boolean;
  readonly mounts: Server["mounts"];
  /** The config's file, where there is one. */
  readonly config?: string;
  /** Ends listens with their result, lets what is under way finish, then closes everything. */
  close(): Promise<void>;
}

export async function startHttp(options: HttpServerOptions): Promise<HttpServer> {
  const { version } = options;
  const pressmark = await openServer({ ...options, live: true });
  try {
    const { settings } = pressmark;
    const { log } = pressmark.runtime;
    const host = options.host ?? settings.host ?? "127.0.0.1";
    const port = options.port ?? settings.port ?? defaultPort;
    const guarded = await findGate(pressmark, options);
    // Who they are is known when it is known who can reach this.
    let caller: Caller = guarded ? { id: "owner", owner: true } : { id: "anonymous" };
    const offering = createFeatures({ pressmark, tools: options.tools });
    const edge = createProtocol({
      resources: pressmark.resources,
      server: { ...offering.server, version },
      instructions: offering.instructions,
      tools: offering.tools,
      ...(offering.actions && { moreTools: offering.actions }),
      prompts: offering.prompts,
      observer: pressmark.register,
      isPrivate: guarded !== undefined,
      log,
    });
    const everywhere = host === "0.0.0.0" || host === "::";
    const allowedHosts = [...options.allowedHosts, ...(settings.allowedHosts ?? [])];
    const allowedOrigins = settings.allowedOrigins ?? [];
    const own = createServerMetrics({ version, index: pressmark.index, counts: () => listening.http.counts, log });
    const page = createPickerPage({
      folder: () => options.pickerFolder ?? join(packageFolder(), "dist", "picker"),
      log,
    });
    const listening = await listen(own.measure(edge), {
      host,
      port,
      log,
      identify: () => caller,
      isOneCaller: true,
      ...(guarded && { gate: guarded.gate, challenge: guarded.challenge }),
      ...(offering.actions && { posts: createActionEndpoint(pressmark.resources, log) }),
      page: "/",
      elsewhere: (request, response, path) => own.answer(request, response, path) || page(request, response, path),
      allowedHosts: [...allowedHosts, ...(everywhere ? ownNames() : [])],
      allowedOrigins,
    });
    const loopback = isLoopback(listening.server.address());
    // Other names and origins mean that others come in, if only through a proxy.
    if (!guarded && loopback && allowedHosts.length === 0 && allowedOrigins.length === 0)
      caller = { ...caller, owner: true };
    // Whoever waits for the address has it first.
    setTimeout(() => offering.prepare(caller), prepareMs).unref();
    // An address that means "all of them" is none that a client could connect to.
    const url = everywhere
      ? listening.url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
      : listening.url;
    const picker = new URL("/", url).href;
    pressmark.register.served = { version, url, tokenVariable: guarded?.variable };
    return {
      url,
      picker,
      ...(guarded && { tokenVariable: guarded.variable }),
      invite: () => (guarded ? `${picker}?code=${guarded.newCode()}` : picker),
      host,
      loopback,
      get mounts() {
        return pressmark.mounts;
      },
      ...(pressmark.config !== undefined && { config: pressmark.config }),
      async close() {
        offering.close();
        await listening.close();
        await pressmark.close();
      },
    };
  } catch (cause) {
    await pressmark.close();
    throw cause;
  }
}

/** Undefined where everyone may come in. */
async function findGate(
  pressmark: Server,
  options: HttpServerOptions,
): Promise<(TokenGate & { readonly variable: string; readonly challenge: string }) | undefined> {
  const { tokenFile: file, env, from } = options;
  if (file === undefined && !env["PRESSMARK_TOKEN"] && pressmark.settings.token === undefined) {
    // Who asked for a lock is not left with an open door.
    if (pressmark.withheld?.includes("token"))
      throw new ResourceError("denied", "the config asks for a token and is not trusted, so nothing is served yet");
    return undefined;
  }
  const [{ findToken, tokenVariable }, { challenge, createTokenGate }] = await Promise.all([
    import("./find-token.ts"),
    import("./token-gate.ts"),
  ]);
  const token = await findToken({ file, from, env, configured: pressmark.settings.token });
  if (token === undefined) return undefined;
  return {
    ...createTokenGate({ token, pid: process.pid, monotonicMs: pressmark.runtime.monotonicMs }),
    challenge,
    variable: tokenVariable,
  };
}

/** What this machine is known by; names that a stranger made to point here are not among it. */
function ownNames(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((each = []) => each);
  return [hostname(), ...addresses.map(({ address, family }) => (family === "IPv6" ? `[${address}]` : address))];
}

function isLoopback(bound: AddressInfo | string | null): boolean {
  if (bound === null || typeof bound === "string") return true;
  return bound.address === "::1" || bound.address.startsWith("127.") || bound.address.startsWith("::ffff:127.");
}
