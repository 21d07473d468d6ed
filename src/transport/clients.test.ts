import { describe, expect, it } from "vitest";
import { createShares, machineOf, proxiedClient, remoteOf } from "./clients.ts";
import { createForwardedReader } from "./forwarded.ts";
import { serveFake } from "./test-server.ts";

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

const from = (address: string) => ({ method: "GET", path: "/sse", headers: { "X-Forwarded-For": address } });

describe("a client behind a proxy", () => {
  it("is known by its caller and its address", () => {
    const client = proxiedClient("203.0.113.7", "aki");
    expect(proxiedClient("203.0.113.7", "aki")).toBe(client);
    expect(proxiedClient("203.0.113.7", "bo")).not.toBe(client);
    expect(proxiedClient("203.0.113.8", "aki")).not.toBe(client);
    expect([client.address, remoteOf(client)]).toEqual(["203.0.113.7", "203.0.113.7"]);
    const v6 = proxiedClient("2001:db8:1:2::9", "aki");
    expect([v6.address, remoteOf(v6)]).toEqual(["2001:db8:1:2", "2001:db8:1:2::9"]);
  });

  it("has a share of its own, though the proxy's connections come from one machine", async () => {
    const { listen, ask } = await serveFake(
      {},
      { maxSessions: 4, forwarded: createForwardedReader({ proxies: ["127.0.0.1"] }) },
    );
    for (let count = 0; count < 2; count++) expect((await listen(from("203.0.113.7"))).status).toBe(200);
    expect((await ask(from("203.0.113.7"))).status).toBe(503);
    expect((await listen(from("203.0.113.8"))).status).toBe(200);
  });

  it("does not use up the connections of its proxy", () => {
    const { isProxy } = createForwardedReader({ proxies: ["192.0.2.9"] });
    expect([isProxy("192.0.2.9"), isProxy("::ffff:192.0.2.9"), isProxy("192.0.2.8"), isProxy(undefined)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
