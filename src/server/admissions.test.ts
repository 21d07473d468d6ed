import { expect, it } from "vitest";
import { createAdmissions } from "./admissions.ts";
import { hashToken, type StoredToken, type TokenStore } from "./token-store.ts";

const ownerToken = "0123456789abcdef0123456789abcdef";

function open(tokens: StoredToken[], callers = [{ name: "aki", groups: ["support"] }]) {
  let now = 1000;
  const logged: string[] = [];
  let isBroken = false;
  let isCurrent = true;
  const store = {
    stamp: () => "",
    isCurrent: () => isCurrent,
    list() {
      if (isBroken) throw new Error("damaged");
      return tokens;
    },
  } as unknown as TokenStore;
  const runtime = { now: () => now, log: (_level: string, message: string) => void logged.push(message) };
  const admissions = createAdmissions({ ownerToken, callers, store, runtime });
  return {
    admissions,
    logged,
    pass: (ms: number) => (now += ms),
    damage: () => (isBroken = true),
    setCurrent: (current: boolean) => (isCurrent = current),
  };
}

const tokenOf = (caller: string, token: string, expires?: number): StoredToken => ({
  id: token,
  caller,
  hash: hashToken(token),
  created: 0,
  expires,
});

it("gives each token its caller, and the owner's token the owner", () => {
  const { admissions } = open([tokenOf("aki", "one"), tokenOf("gone", "two")]);
  expect(admissions.find("one")).toMatchObject({ id: "aki", groups: ["support"] });
  expect(admissions.find("one")).toBe(admissions.find("one"));
  expect(admissions.find(ownerToken)).toEqual({ id: "owner", owner: true });
  for (const stranger of ["two", "three", "", ownerToken.slice(1)]) expect(admissions.find(stranger)).toBeUndefined();
});

it("ends an admission when its token is revoked", () => {
  const tokens = [tokenOf("aki", "one"), tokenOf("aki", "two")];
  const { admissions } = open(tokens);
  const [one, two] = [admissions.find("one")!, admissions.find("two")!];
  tokens.shift();
  admissions.reload();
  expect([one.ended?.aborted, two.ended?.aborted]).toEqual([true, false]);
  expect(admissions.find("one")).toBeUndefined();
  expect(admissions.find("two")).toBe(two);
});

it("ends an admission when its token expires, also if nobody asks", async () => {
  const { admissions, pass } = open([tokenOf("aki", "one", 1030)]);
  const { ended } = admissions.find("one")!;
  pass(30);
  await new Promise<void>((resolve) => ended?.addEventListener("abort", () => resolve()));
  expect(admissions.find("one")).toBeUndefined();
});

it("ends an admission when the caller's groups or role change, and not otherwise", () => {
  const { admissions } = open([tokenOf("aki", "one")]);
  const first = admissions.find("one")!;
  admissions.reload([{ name: "aki", groups: ["support"] }]);
  expect(admissions.find("one")).toBe(first);
  admissions.reload([{ name: "aki", groups: [] }]);
  expect(first.ended?.aborted).toBe(true);
  expect(admissions.find("one")?.groups).toEqual([]);
  admissions.reload([]);
  expect(admissions.find("one")).toBeUndefined();
});

it("refuses every stored token while the file cannot be read", () => {
  const { admissions, damage, logged } = open([tokenOf("aki", "one")]);
  const { ended } = admissions.find("one")!;
  damage();
  admissions.reload();
  expect(ended?.aborted).toBe(true);
  expect(admissions.find("one")).toBeUndefined();
  expect(admissions.find(ownerToken)).toBe(admissions.owner);
  expect(logged).toEqual(["the tokens of callers cannot be read, so they are refused"]);
});

it("finds no stored token while one may have been revoked unnoticed, and the same caller after that", () => {
  const { admissions, setCurrent } = open([tokenOf("aki", "one")]);
  const aki = admissions.find("one");
  setCurrent(false);
  expect(admissions.find("one")).toBeUndefined();
  expect(admissions.isCurrent()).toBe(false);
  expect(admissions.find(ownerToken)).toBe(admissions.owner);
  expect(aki?.ended?.aborted).toBe(false);
  expect(admissions.findLastKnown("one")).toBe(aki);
  expect(admissions.findLastKnown("two")).toBeUndefined();
  setCurrent(true);
  expect(admissions.find("one")).toBe(aki);
});

it("does not find a token that has expired while others may have been revoked unnoticed", () => {
  const { admissions, pass, setCurrent } = open([tokenOf("aki", "one", 1030)]);
  setCurrent(false);
  expect(admissions.findLastKnown("one")).toMatchObject({ id: "aki" });
  pass(30);
  expect(admissions.findLastKnown("one")).toBeUndefined();
});
