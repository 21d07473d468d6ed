/** The house on the network. */
import type { AddressInfo } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { packageFolder } from "../config/package-folder.ts";
import { createEdge } from "../protocol/create-edge.ts";
import { listen } from "../transport/listen.ts";
import { createOffering } from "./offering.ts";
import { type House, type HouseOptions, openHouse } from "./open-house.ts";
import { createPickerPage } from "./picker-page.ts";

export const defaultPort = 7357;
const prepareMs = 50;

export interface ServerOptions extends Omit<HouseOptions, "live"> {
  /** What is not said here the config says; otherwise 127.0.0.1. */
  readonly host?: string | undefined;
  /** 0 takes any free one; 7357 unless this or the config says another. */
  readonly port?: number | undefined;
  /** Names that clients may know this machine by, beside its own. */
  readonly allowedHosts: readonly string[];
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
    const offering = createOffering({ house, tools: options.tools });
    const edge = createEdge({
      resources: house.resources,
      server: { ...offering.server, version },
      instructions: offering.instructions,
      tools: offering.tools,
      prompts: offering.prompts,
      log,
    });
    const everywhere = host === "0.0.0.0" || host === "::";
    const listening = await listen(edge, {
      host,
      port,
      log,
      elsewhere: createPickerPage({
        folder: () => options.pickerFolder ?? join(packageFolder(), "dist", "picker"),
        log,
      }),
      allowedHosts: [...options.allowedHosts, ...(settings.allowedHosts ?? []), ...(everywhere ? ownNames() : [])],
      allowedOrigins: settings.allowedOrigins ?? [],
    });
    // Whoever waits for the address has it first.
    setTimeout(() => offering.prepare({ id: "anonymous" }), prepareMs).unref();
    // An address that means "all of them" is none that a client could connect to.
    const url = everywhere
      ? listening.url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
      : listening.url;
    return {
      url,
      picker: new URL("/", url).href,
      host,
      loopback: isLoopback(listening.server.address()),
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

/** What this machine is known by; names that a stranger made to point here are not among it. */
function ownNames(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((each = []) => each);
  return [hostname(), ...addresses.map(({ address, family }) => (family === "IPv6" ? `[${address}]` : address))];
}

function isLoopback(bound: AddressInfo | string | null): boolean {
  if (bound === null || typeof bound === "string") return true;
  return bound.address === "::1" || bound.address.startsWith("127.") || bound.address.startsWith("::ffff:127.");
}
