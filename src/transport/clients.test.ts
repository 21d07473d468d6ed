import { describe, expect, it } from "vitest";
import { createShares, machineOf } from "./clients.ts";

describe("a machine", () => {
  it.each(["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1", undefined])("is this one at %s", (address) => {
    expect(machineOf(address)).toBeUndefined();
  });

  it("is known by its address, and in IPv6 by its network", () => {
    expect(machineOf("192.0.2.7")).toBe("192.0.2.7");
    expect(machineOf("::ffff:192.0.2.7")).toBe("192.0.2.7");
    expect(machineOf("2001:db8:1:2:a:b:c:d")).toBe("2001:db8:1:2");
    expect(machineOf("2001:db8:1:2::1")).toBe(machineOf("2001:db8:1:2:ffff::9"));
    expect(machineOf("2001:db8:1:3::1")).not.toBe(machineOf("2001:db8:1:2::1"));
    expect(machineOf("2001:db8::1")).toBe(machineOf("2001:db8:0:0:7::"));
    expect(machineOf("fe80::1%eth0")).toBe(machineOf("fe80::1%eth1"));
  });

  it("has half at most, unless it is this one", () => {
    const shares = createShares(4);
    const [here, near, far] = [{ address: undefined }, { address: "192.0.2.1" }, { address: "192.0.2.2" }];
    for (let count = 0; count < 4; count++) shares.add(here);
    shares.add(near);
    expect([here, near, far].map((each) => shares.isUsedUp(each))).toEqual([false, false, false]);
    shares.add(near);
    expect([here, near, far].map((each) => shares.isUsedUp(each))).toEqual([false, true, false]);
    shares.remove(near);
    expect(shares.isUsedUp(near)).toBe(false);
  });
});
