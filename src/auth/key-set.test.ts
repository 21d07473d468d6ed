import { exportJWK, generateKeyPair, type JSONWebKeySet } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { createClock } from "../testing/clock.ts";
import { createKeySet } from "./key-set.ts";

let first: object;
let second: object;

beforeAll(async () => {
  [first, second] = [await createKey("first"), await createKey("second")];
});

async function createKey(kid: string): Promise<object> {
  const { publicKey } = await generateKeyPair("ES256");
  return { ...(await exportJWK(publicKey)), kid, alg: "ES256" };
}

function open(keys: () => readonly object[] | Error) {
  const clock = createClock();
  const stop = new AbortController();
  const logged: string[] = [];
  let fetches = 0;
  const set = createKeySet({
    issuer: "https://idp.example",
    runtime: { ...clock.runtime, log: (_level, message) => logged.push(message) },
    signal: stop.signal,
    async load() {
      fetches += 1;
      const found = keys();
      if (found instanceof Error) throw found;
      return { keys: found } as JSONWebKeySet;
    },
  });
  const count = async (kid?: string) => (await set.find({ alg: "ES256", kid })).length;
  return { set, clock, stop, logged, count, fetches: () => fetches };
}

describe("the keys of an issuer", () => {
  it("are fetched once, however many ask at a time", async () => {
    const { count, fetches } = open(() => [first]);
    expect(await Promise.all(["first", "first", "other"].map((kid) => count(kid)))).toEqual([1, 1, 0]);
    expect(fetches()).toBe(1);
  });

  it("that are unknown are looked for again, once per interval", async () => {
    let keys = [first];
    const { count, fetches, clock } = open(() => keys);
    expect(await count("second")).toBe(0);
    keys = [first, second];
    for (let times = 0; times < 100; times += 1) expect(await count(`unknown-${times}`)).toBe(0);
    expect([await count("second"), fetches()]).toEqual([0, 1]);
    await clock.advance(30_000);
    expect([await count("second"), fetches()]).toEqual([1, 2]);
  });

  it("stay in use while the issuer cannot be reached, which is logged once per interval", async () => {
    let keys: readonly object[] | Error = [first];
    const { count, fetches, clock, logged } = open(() => keys);
    expect(await count("first")).toBe(1);
    keys = new Error("down");
    await clock.advance(600_000);
    for (let times = 0; times < 10; times += 1) expect(await count("first")).toBe(1);
    expect([fetches(), logged.length]).toEqual([2, 1]);
  });

  it("that cannot be fetched at first make tokens undecided, and are fetched again after the interval", async () => {
    let keys: readonly object[] | Error = new Error("down");
    const { count, fetches, clock } = open(() => keys);
    for (let times = 0; times < 10; times += 1)
      await expect(count("first")).rejects.toMatchObject({ kind: "unavailable" });
    expect(fetches()).toBe(1);
    keys = [first];
    await clock.advance(30_000);
    expect(await count("first")).toBe(1);
  });

  it.each([
    ["not a key set", { keys: "x" }],
    ["a key that is none", { keys: [{}] }],
  ])("may be %s: then no key matches or the set is not used", async (_, found) => {
    const { set } = open(() => (found as { keys: [] }).keys);
    const keys = await set.find({ alg: "ES256", kid: "first" }).catch(() => []);
    expect(keys).toEqual([]);
  });

  it("without an id are all tried", async () => {
    const { count } = open(() => [first, second]);
    expect(await count()).toBe(2);
  });

  it("of a symmetric algorithm are never used", async () => {
    const { set } = open(() => [first, { kty: "oct", k: "c2VjcmV0", kid: "first", alg: "HS256" }]);
    await expect(set.find({ alg: "HS256", kid: "first" })).rejects.toThrow("Unsupported");
  });

  it("that are withdrawn or replaced end what was verified with them, and others do not", async () => {
    let keys = [first, second];
    const { set, count, clock, stop } = open(() => keys);
    expect(await count("first")).toBe(1);
    const [ofFirst, ofSecond] = [set.withdrawn("first"), set.withdrawn("second")];
    keys = [{ ...first, x: (second as { x: string }).x }, second];
    await clock.advance(600_000);
    await count("second");
    expect([ofFirst.aborted, ofSecond.aborted]).toEqual([true, false]);
    stop.abort();
    expect(ofSecond.aborted).toBe(true);
  });
});
