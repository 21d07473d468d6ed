/** Distinguishes clients: by connection, and for other machines also by address. Behind a proxy, by caller and address. */
import type { Socket } from "node:net";

/** One connection, or one client of a proxy. It does not reference the socket, because counters keep it alive. */
export interface Client {
  /** The remote machine; undefined for this machine, where all clients share the address. */
  readonly address: string | undefined;
  /** The whole address, for the audit log. */
  readonly remote?: string;
}

/** Clients of this machine have no share. */
export const ofThisMachine: Client = { address: undefined };

const clients = new WeakMap<Socket, Client>();

/** The same object for the lifetime of the connection. */
export function clientOf(socket: Socket): Client {
  let client = clients.get(socket);
  if (client === undefined) clients.set(socket, (client = toClient(socket.remoteAddress)));
  return client;
}

function toClient(remote: string | undefined): Client {
  return { address: machineOf(remote), remote: remote?.replace(/^::ffff:(?=\d+\.)/i, "") };
}

/** Clients of proxies, as long as anything refers to them: a proxy uses one connection for many clients. */
const proxied = new Map<string, WeakRef<Client>>();
const forgotten = new FinalizationRegistry<string>((key) => {
  if (proxied.get(key)?.deref() === undefined) proxied.delete(key);
});

/** The same object for each request of a caller from an address, while it is in use. An unknown address counts as this machine. */
export function proxiedClient(address: string | undefined, caller: string): Client {
  const key = `${address ?? ""} ${caller}`;
  const known = proxied.get(key)?.deref();
  if (known) return known;
  const client = toClient(address);
  proxied.set(key, new WeakRef(client));
  forgotten.register(client, key);
  return client;
}

/** The address of a call's client, if it has one. */
export function remoteOf(client: object | undefined): string | undefined {
  return client && "remote" in client && typeof client.remote === "string" ? client.remote : undefined;
}

/** An IPv6 network gives each machine a /64, so the first half identifies the machine. */
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

/** Counts per machine: no machine but this one may have more than half. */
export function createShares(max: number) {
  const counts = new Map<string, number>();
  return {
    /** Whether this machine has used its share. */
    isUsedUp: ({ address }: Client) => address !== undefined && (counts.get(address) ?? 0) >= Math.ceil(max / 2),
    add({ address }: Client): void {
      if (address !== undefined) counts.set(address, (counts.get(address) ?? 0) + 1);
    },
    remove({ address }: Client): void {
      if (address === undefined) return;
      const left = (counts.get(address) ?? 0) - 1;
      if (left > 0) counts.set(address, left);
      else counts.delete(address);
    },
  };
}
