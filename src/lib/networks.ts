/** IP addresses and networks in CIDR notation. */
import { BlockList, isIP, SocketAddress } from "node:net";

export interface Networks {
  /** Whether one of the networks contains this canonical address. */
  include(address: string): boolean;
}

/** The one spelling of an address; undefined if the text is none, or has a zone. IPv4 in IPv6 becomes IPv4. */
export function canonicalAddress(text: string): string | undefined {
  const family = text.includes("%") ? 0 : isIP(text);
  if (family === 0) return undefined;
  if (family === 4) return text;
  return new SocketAddress({ address: text, family: "ipv6" }).address.replace(/^::ffff:(?=\d+\.)/, "");
}

/** Whether only this machine can reach a host, by its address or the name "localhost". Brackets around an IPv6 address are allowed. */
export function isLoopbackHost(host: string): boolean {
  const name = withoutBrackets(host).toLowerCase();
  const address = canonicalAddress(name);
  return name === "localhost" || address === "::1" || (address !== undefined && /^127\.[\d.]+$/.test(address));
}

/** `::1` for `[::1]`. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[([^\]]*)\]$/, "$1");
}

/** Whether a text is an address, or a network such as `10.0.0.0/8` that does not contain every address. */
export function isNetwork(text: string): boolean {
  const { address, family, bits } = parse(text);
  return canonicalAddress(address) !== undefined && bits > 0 && bits <= (family === "ipv4" ? 32 : 128);
}

export function createNetworks(texts: readonly string[]): Networks {
  const list = new BlockList();
  for (const text of texts) {
    const { address, family, bits } = parse(text);
    list.addSubnet(address, bits, family);
  }
  return { include: (address) => list.check(address, isIP(address) === 4 ? "ipv4" : "ipv6") };
}

function parse(text: string) {
  const [address = "", length, ...more] = text.split("/");
  const family = isIP(address) === 4 ? ("ipv4" as const) : ("ipv6" as const);
  const isLength = length === undefined || (/^\d{1,3}$/.test(length) && more.length === 0);
  return { address, family, bits: isLength ? Number(length ?? (family === "ipv4" ? 32 : 128)) : NaN };
}
