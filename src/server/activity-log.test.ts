import { describe, expect, it } from "vitest";
import { createClock } from "../testing/clock.ts";
import { createActivityLog } from "./activity-log.ts";

const visitor = { caller: { id: "local", owner: true }, name: "host", version: "1", revision: "2026-07-28" };

describe("the activity log", () => {
  it("forgets a client without a connection after a while, and keeps one that stays", async () => {
    const { runtime, advance } = createClock();
    const register = createActivityLog(runtime);
    const leave = new AbortController();
    register.requested(visitor);
    register.came({ ...visitor, name: "other", revision: "2025-06-18" }, leave.signal);
    await advance(5 * 60_000);
    expect(register.clients().map(({ name }) => name)).toEqual(["other", "host"]);
    await advance(1);
    expect(register.clients()).toMatchObject([{ name: "other", era: "legacy", connections: 1 }]);
    leave.abort();
    expect(register.clients()).toEqual([]);
    expect(register.seen()).toMatchObject([
      { name: "other", connections: 0 },
      { name: "host", connections: 0 },
    ]);
  });

  it("knows who is there although the wall clock is set back, and shows its time", async () => {
    const { runtime, advance, setWallClock } = createClock(Date.parse("2026-11-15T12:00:00Z"));
    const register = createActivityLog(runtime);
    register.requested(visitor);
    setWallClock(-3_600_000);
    await advance(60_000);
    register.requested({ ...visitor, name: "later" });
    expect(register.clients()).toMatchObject([
      { name: "later", lastSeen: "2026-11-15T11:01:00.000Z" },
      { name: "host", lastSeen: "2026-11-15T12:00:00.000Z" },
    ]);
    await advance(5 * 60_000);
    expect(register.clients().map(({ name }) => name)).toEqual(["later"]);
  });

  it("holds a bounded number of clients and reads, the last ones", () => {
    const register = createActivityLog(createClock().runtime);
    register.came({ ...visitor, name: "faithful" }, new AbortController().signal);
    for (let index = 0; index < 1000; index += 1) {
      register.requested({ ...visitor, name: `client-${index}` });
      register.read(visitor, `file:///${index}`);
    }
    register.read(visitor, `file:///${"x".repeat(100_000)}`);
    expect(register.clients()).toHaveLength(200);
    expect(register.clients()[0]?.name).toBe("client-999");
    expect(register.clients().some(({ name }) => name === "faithful")).toBe(true);
    expect(register.reads()).toHaveLength(100);
    expect(register.reads()[0]?.uri.length).toBe(2048);
  });

  it("keeps the owner's clients, and tells them from those of others", () => {
    const register = createActivityLog(createClock().runtime);
    const guest = { ...visitor, caller: { id: "guest" } };
    register.requested({ ...visitor, name: "mine" });
    register.requested(guest);
    for (let index = 0; index < 1000; index += 1) register.requested({ ...guest, name: `client-${index}` });
    expect(register.clients()).toHaveLength(200);
    expect(register.seen().map(({ name }) => name)).toEqual(["mine"]);
  });

  it("counts repeated reads, and leaves out the server's own resources", () => {
    const register = createActivityLog(createClock().runtime);
    for (const uri of ["file:///a", "file:///b", "file:///a", "pressmark://status", "UI://pressmark/picker"])
      register.read(visitor, uri);
    expect(register.reads()).toMatchObject([
      { uri: "file:///a", times: 2 },
      { uri: "file:///b", times: 1 },
    ]);
  });
});
