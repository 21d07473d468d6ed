/** The house on the network. */
import type { AddressInfo } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { createEdge } from "../protocol/create-edge.ts";
import { listen } from "../transport/listen.ts";
import { instructions } from "./instructions.ts";
import { type House, type HouseOptions, openHouse } from "./open-house.ts";

export interface ServerOptions extends HouseOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** Names that clients may know this machine by, beside its own. */
  readonly allowedHosts: readonly string[];
  readonly version: string;
}

export interface Server {
  /** Where MCP is served. */
  readonly url: string;
  /** Whether only this machine can reach it. */
  readonly loopback: boolean;
  readonly mounts: House["mounts"];
  /** Ends listens with their result, lets what is under way finish, then closes everything. */
  close(): Promise<void>;
}

export async function startServer(options: ServerOptions): Promise<Server> {
  const { host, port, version, allowedHosts } = options;
  const house = await openHouse(options);
  try {
    const { log } = house.tools;
    const edge = createEdge({
      resources: house.resources,
      server: { name: "pressmark", title: "Pressmark", version },
      instructions: instructions(house.mounts),
      log,
    });
    const everywhere = host === "0.0.0.0" || host === "::";
    const listening = await listen(edge, {
      host,
      port,
      log,
      allowedHosts: [...allowedHosts, ...(everywhere ? ownNames() : [])],
    });
    return {
      // An address that means "all of them" is none that a client could connect to.
      url: everywhere
        ? listening.url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
        : listening.url,
      loopback: isLoopback(listening.server.address()),
      mounts: house.mounts,
      async close() {
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
