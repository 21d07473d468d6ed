/** Decides which network addresses are public, so that nobody can make this server request an internal one. */
import { BlockList, isIP } from "node:net";
import { invalid, quote } from "../../errors.ts";

/** Excludes addresses of this machine, its network, cloud metadata, reserved ranges, and ranges that embed other addresses. */
const closed: readonly string[] = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  // In IPv6 only global unicast is open, without the ranges that embed or translate an IPv4 address.
  "::/3",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
  "4000::/2",
  "8000::/1",
];

/** Whether an address may be contacted. */
export type Permit = (address: string) => boolean;

/** `allowed` are additional addresses or ranges (`10.1.0.0/16`). */
export function createPermit(allowed: readonly string[]): Permit {
  const refused = createRanges(closed);
  const granted = createRanges(allowed);
  return (address) => isIP(address) !== 0 && (granted(address) || !refused(address));
}

/** IPv4 and IPv6 separately: an embedded IPv4 address is judged in the form in which it is written. */
function createRanges(ranges: readonly string[]): (address: string) => boolean {
  const lists = { 4: new BlockList(), 6: new BlockList() };
  for (const range of ranges) {
    const [, address = "", length] = /^([\d.]+|[\da-f:.]+)(?:\/(\d{1,3}))?$/i.exec(range) ?? [];
    const family = isIP(address);
    const most = family === 6 ? 128 : 32;
    const prefix = length === undefined ? most : Number(length);
    if (family === 0 || prefix > most)
      throw invalid(`${quote(range)} is not an IP address or range, such as "10.1.0.0/16"`);
    if (family === 6) lists[6].addSubnet(address, prefix, "ipv6");
    else lists[4].addSubnet(address, prefix, "ipv4");
  }
  return (address) => (isIP(address) === 6 ? lists[6].check(address, "ipv6") : lists[4].check(address, "ipv4"));
}
