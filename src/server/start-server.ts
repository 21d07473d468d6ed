/** The house on the network. */
import type { AddressInfo } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { packageFolder } from "../config/package-folder.ts";
import { ResourceError } from "../errors.ts";
import { createEdge } from "../protocol/create-edge.ts";
import type { Caller } from "../resources.ts";
import { createActionDoor } from "../transport/action-door.ts";
import { listen } from "../transport/listen.ts";
import { createOffering } from "./offering.ts";
import { type House, type HouseOptions, openHouse } from "./open-house.ts";
import { createOwnMetrics } from "./own-metrics.ts";
import { createPickerPage } from "./picker-page.ts";
import type { TokenGate } from "./token-gate.ts";

export const defaultPort = 7357;
const prepareMs = 50;

export interface ServerOptions extends Omit<HouseOptions, "live"> {
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

export interface Server {
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
  readonly mounts: House["mounts"];
  /** The config's file, where there is one. */
  readonly config?: string;
  /** Ends listens with their result, lets what is under way finish, then closes everything. */
  close(): Promise<void>;
}

export async function startServer(options: ServerOptions): Promise<Server> {
  const { version } = options;
  const house = await openHouse({ ...options, live: true });
  try {
    const { settings } = house;
    const { log } = house.tools;
    const host = options.host ?? settings.host ?? "127.0.0.1";
    const port = options.port ?? settings.port ?? defaultPort;
    const guarded = await findGate(house, options);
    // Who they are is known when it is known who can reach this.
    let caller: Caller = guarded ? { id: "owner", owner: true } : { id: "anonymous" };
    const offering = createOffering({ house, tools: options.tools });
    const edge = createEdge({
      resources: house.resources,
      server: { ...offering.server, version },
      instructions: offering.instructions,
      tools: offering.tools,
      ...(offering.actions && { moreTools: offering.actions }),
      prompts: offering.prompts,
      witness: house.register,
      isPrivate: guarded !== undefined,
      log,
    });
    const everywhere = host === "0.0.0.0" || host === "::";
    const allowedHosts = [...options.allowedHosts, ...(settings.allowedHosts ?? [])];
    const allowedOrigins = settings.allowedOrigins ?? [];
    const own = createOwnMetrics({ version, index: house.index, counts: () => listening.http.counts, log });
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
      ...(offering.actions && { posts: createActionDoor(house.resources, log) }),
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
    house.register.served = { version, url, tokenVariable: guarded?.variable };
    return {
      url,
      picker,
      ...(guarded && { tokenVariable: guarded.variable }),
      invite: () => (guarded ? `${picker}?code=${guarded.newCode()}` : picker),
      host,
      loopback,
      get mounts() {
        return house.mounts;
      },
      ...(house.config !== undefined && { config: house.config }),
      async close() {
        offering.close();
        await listening.close();
        await house.close();
      },
    };
  } catch (cause) {
    await house.close();
    throw cause;
  }
}

/** Undefined where everyone may come in. */
async function findGate(
  house: House,
  options: ServerOptions,
): Promise<(TokenGate & { readonly variable: string; readonly challenge: string }) | undefined> {
  const { tokenFile: file, env, from } = options;
  if (file === undefined && !env["PRESSMARK_TOKEN"] && house.settings.token === undefined) {
    // Who asked for a lock is not left with an open door.
    if (house.withheld?.includes("token"))
      throw new ResourceError("denied", "the config asks for a token and is not trusted, so nothing is served yet");
    return undefined;
  }
  const [{ findToken, tokenVariable }, { challenge, createTokenGate }] = await Promise.all([
    import("./find-token.ts"),
    import("./token-gate.ts"),
  ]);
  const token = await findToken({ file, from, env, configured: house.settings.token });
  if (token === undefined) return undefined;
  return {
    ...createTokenGate({ token, pid: process.pid, monotonicMs: house.tools.monotonicMs }),
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
