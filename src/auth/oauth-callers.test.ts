import { once } from "node:events";
import { describe, expect, it } from "vitest";
import type { AccessRule } from "../access/rules.ts";
import type { CallerConfig } from "../config/access.ts";
import { unavailable } from "../errors.ts";
import { createClock } from "../testing/clock.ts";
import { createOAuthCallers } from "./oauth-callers.ts";
import { createScopes } from "./scopes.ts";
import { TokenRefusal, type VerifiedToken } from "./token-verifier.ts";

const issuer = "https://idp.example";

function open(answers: Record<string, Partial<VerifiedToken> | Error>, runtime = createClock().runtime) {
  const config: { callers: CallerConfig[]; rules: AccessRule[] } = { callers: [], rules: [] };
  const verified: string[] = [];
  const signedIn: string[] = [];
  const callers = createOAuthCallers({
    verifier: {
      async verify(token) {
        verified.push(token);
        const answer = answers[token] ?? new TokenRefusal("unknown");
        if (answer instanceof Error) throw answer;
        const usual = { issuer, subject: "ann", groups: [], scopes: [], claims: {} };
        return { ...usual, expiresMs: runtime.now() + 60_000, ...answer };
      },
    },
    scopes: createScopes({ includes: { write: ["read"] } }),
    callers: () => config.callers,
    rules: () => config.rules,
    runtime,
    signedIn: ({ id }) => signedIn.push(id),
  });
  return { callers, config, verified, signedIn, answers };
}

describe("the holder of a token", () => {
  it("is verified once, also if several requests come at a time, and found again without delay", async () => {
    const { callers, verified, signedIn } = open({ t: {} });
    expect(callers.find("t")).toBeUndefined();
    const [one, other] = await Promise.all([callers.admit("t"), callers.admit("t")]);
    expect(other).toBe(one);
    expect(callers.find("t")).toBe(one);
    expect([verified, signedIn]).toEqual([["t"], [`${issuer}#ann`]]);
  });

  it("is one object for all tokens with the same rights, and another one with other rights", async () => {
    const { callers } = open({ a: { scopes: ["write"] }, b: { scopes: ["read", "write"] }, c: { scopes: ["read"] } });
    const [a, b, c] = await Promise.all(["a", "b", "c"].map((token) => callers.admit(token)));
    expect(b).toBe(a);
    expect(c).not.toBe(a);
    expect([a?.scopes, c?.id]).toEqual([["read", "write"], a?.id]);
  });

  it.each(["owner", "x@corp.example", "a#b", "https://other.example#ann", "\u0000\n", "日本"])(
    "with the subject %j is nobody else",
    async (subject) => {
      const { callers } = open({ t: { subject } });
      const { id, owner } = await callers.admit("t");
      expect(id.startsWith(`${issuer}#`)).toBe(true);
      expect(decodeURIComponent(id.slice(issuer.length + 1))).toBe(subject);
      expect(id).toMatch(/^[\x21-\x7e]+$/);
      expect(id).not.toContain("@");
      expect(owner).toBeUndefined();
    },
  );

  it("is refused if its subject is no text", async () => {
    const { callers } = open({ t: { subject: "\ud800" } });
    await expect(callers.admit("t")).rejects.toBeInstanceOf(TokenRefusal);
  });

  it("has the claims that rules are about, and no others", async () => {
    const { callers, config } = open({ t: { claims: { dept: "tea", level: 3, secret: "x" } } });
    config.rules.push({ allow: ["claim:dept=tea", "claim:level=3", "claim:none=1"] });
    expect((await callers.admit("t")).claims).toEqual({ dept: ["tea"], level: ["3"] });
  });

  it("ends when the last token expires, and no token is accepted after its own end", async () => {
    const real = { ...createClock().runtime, now: () => Date.now(), monotonicMs: () => performance.now() };
    const lastMs = Date.now() + 400;
    const { callers } = open({ short: { expiresMs: lastMs - 250 }, long: { expiresMs: lastMs } }, real);
    const caller = await callers.admit("short");
    expect(await callers.admit("long")).toBe(caller);
    await once(caller.ended!, "abort");
    expect(Date.now()).toBeGreaterThanOrEqual(lastMs);
    expect([callers.find("short"), callers.find("long")]).toEqual([undefined, undefined]);
  });

  it("ends when the token is revoked, its key withdrawn or its issuer removed", async () => {
    const stop = new AbortController();
    const { callers } = open({ t: { ended: stop.signal } });
    const caller = await callers.admit("t");
    stop.abort();
    expect([caller.ended?.aborted, callers.find("t")]).toEqual([true, undefined]);
    await expect(callers.admit("t")).rejects.toBeInstanceOf(TokenRefusal);
  });

  it("is verified again after a while: refused, it ends; undecided, it goes on", async () => {
    const clock = createClock();
    const expiresMs = Infinity;
    const { callers, answers, verified } = open(
      { t: { verifyAgainMs: clock.runtime.monotonicMs() + 1000, expiresMs } },
      clock.runtime,
    );
    const caller = await callers.admit("t");
    await clock.advance(1000);
    expect(callers.find("t")).toBeUndefined();
    answers["t"] = unavailable("down");
    await expect(callers.admit("t")).rejects.toMatchObject({ kind: "unavailable" });
    expect(caller.ended?.aborted).toBe(false);
    answers["t"] = { expiresMs };
    expect(await callers.admit("t")).toBe(caller);
    answers["t"] = { verifyAgainMs: 0, expiresMs };
    await callers.admit("t");
    answers["t"] = new TokenRefusal("revoked");
    await expect(callers.admit("t")).rejects.toBeInstanceOf(TokenRefusal);
    expect([caller.ended?.aborted, verified.length]).toEqual([true, 5]);
  });

  it("ends when the config makes it another caller, and stays otherwise", async () => {
    const { callers, config } = open({ a: { caller: "aki" }, b: {} });
    config.callers = [{ name: "aki", groups: ["support"] }];
    const [aki, ann] = [await callers.admit("a"), await callers.admit("b")];
    expect([aki.id, aki.groups]).toEqual(["aki", ["support"]]);
    config.callers = [{ name: "aki", groups: ["sales"] }];
    callers.reload();
    expect([aki.ended?.aborted, ann.ended?.aborted]).toEqual([true, false]);
    expect((await callers.admit("a")).groups).toEqual(["sales"]);
    config.callers = [];
    callers.reload();
    await expect(callers.admit("a")).rejects.toBeInstanceOf(TokenRefusal);
  });
});
