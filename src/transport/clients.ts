/** Tells clients apart where all of them are one caller: by connection, and beyond this machine also by address. */
import type { Socket } from "node:net";

/** One connection. It is held by what counts for it, so it holds nothing of the socket. */
export interface Client {
  /** The machine at the other end; undefined for this machine, where every client has the same. */
  readonly address: string | undefined;
}

const clients = new WeakMap<Socket, Client>();

/** The same for as long as the connection lasts. */
export function clientOf(socket: Socket): Client {
  let client = clients.get(socket);
  if (client === undefined) clients.set(socket, (client = { address: machineOf(socket.remoteAddress) }));
  return client;
}

/** An IPv6 network gives each machine a /64 of addresses, so its first half is what tells machines apart. */
export function machineOf(remoteAddress: string | undefined): string | undefined {
  const address = remoteAddress?.replace(/^::ffff:/i, "");
  if (address === undefined || address === "::1" || address.startsWith("127.")) return undefined;
  return address.includes(":") ? networkOf(address) : address;
}

function networkOf(address: string): string {
  const [start = "", end] = address.replace(/%.*/, "").split("::");
  const first = start === "" ? [] : start.split(":");
  const last = end === undefined || end === "" ? [] : end.split(":");
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => "0");
  return [...first, ...zeros, ...last].slice(0, 4).join(":");
}

/** Counts by machine. */
export interface Shares {
  /** Whether this machine has its share already; one address is never alone with all there is. */
  isUsedUp(client: Client): boolean;
  add(client: Client): void;
  remove(client: Client): void;
}

/** No machine but this one may have more than half. */
export function createShares(max: number): Shares {
  const counts = new Map<string, number>();
  return {
    isUsedUp: ({ address }) => address !== undefined && (counts.get(address) ?? 0) >= Math.ceil(max / 2),
    add({ address }) {
      if (address !== undefined) counts.set(address, (counts.get(address) ?? 0) + 1);
    },
    remove({ address }) {
      if (address === undefined) return;
      const left = (counts.get(address) ?? 0) - 1;
      if (left > 0) counts.set(address, left);
      else counts.delete(address);
    },
  };
}
