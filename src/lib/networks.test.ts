import { describe, expect, it } from "vitest";
import { canonicalAddress, createNetworks, isNetwork } from "./networks.ts";

describe("an address", () => {
  it.each([
    ["192.0.2.7", "192.0.2.7"],
    ["2001:DB8:0:0::1", "2001:db8::1"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["::FFFF:c000:0207", "192.0.2.7"],
    ["::1", "::1"],
  ])("%s is %s", (text, canonical) => expect(canonicalAddress(text)).toBe(canonical));

  it.each(["", "192.0.2", "192.0.2.07", "0x7f.1", "2130706433", "fe80::1%eth0", " 192.0.2.7", "localhost", "::g"])(
    "is not %j",
    (text) => expect(canonicalAddress(text)).toBeUndefined(),
  );
});

describe("a network", () => {
  it.each(["127.0.0.1", "10.0.0.0/8", "10.1.2.3/8", "::1", "2001:db8::/32", "192.0.2.7/32", "::/1"])("is %s", (text) =>
    expect(isNetwork(text)).toBe(true),
  );

  it.each(["true", "*", "", "10.0.0.0/0", "::/0", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/8/8", "10.0.0/8"])(
    "is not %j",
    (text) => expect(isNetwork(text)).toBe(false),
  );

  it("includes its addresses, however they are written", () => {
    const networks = createNetworks(["10.0.0.0/8", "2001:db8::/32", "192.0.2.7"]);
    const isIn = (text: string) => networks.include(canonicalAddress(text)!);
    expect(["10.255.0.1", "::ffff:10.0.0.1", "2001:db8:ffff::1", "192.0.2.7"].map(isIn)).not.toContain(false);
    expect(["11.0.0.1", "192.0.2.8", "2001:db9::1", "::1", "::a00:1"].map(isIn)).not.toContain(true);
  });
});
