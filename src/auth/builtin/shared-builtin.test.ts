import { describe, expect, it } from "vitest";
import { createTestStore } from "../../state/test-store.ts";
import { createSharedOAuthStore } from "./shared-oauth-store.ts";
import {
  connectClient,
  createRequest,
  exchange,
  redirectUri,
  register,
  signInAndAllow,
  startBuiltin,
  type TestBuiltin,
} from "./test-builtin.ts";

/** Both instances. */
const instancesOf = ({ verifier, other }: TestBuiltin) => [verifier, other!];
const signal = new AbortController().signal;

/** Every request of a sign-in reaches another instance than the one before. */
describe("two instances of the embedded authorization server", () => {
  it("sign a caller in together, and both accept the token", async () => {
    await using builtin = await startBuiltin({ shared: createTestStore() });
    const { status, accessToken } = await connectClient(builtin);
    expect(status).toBe(200);
    for (const instance of instancesOf(builtin))
      expect(await instance.verify(accessToken, signal)).toMatchObject({ caller: "aki" });
  });

  it("exchange a code once, whichever of them it reaches first", async () => {
    await using builtin = await startBuiltin({ shared: createTestStore() });
    const { form, accessToken } = await connectClient(builtin);
    const answers = await Promise.all([exchange(builtin, form), exchange(builtin, form)]);
    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    // A code that is used twice was stolen.
    for (const instance of instancesOf(builtin))
      await expect(instance.verify(accessToken, signal)).rejects.toThrow("the token was revoked");
  });

  it("exchange a code at most once if both get it at the same moment", async () => {
    await using builtin = await startBuiltin({ shared: createTestStore() });
    const client = String((await register(builtin)).body["client_id"]);
    const { verifier, address } = createRequest(builtin, client);
    const code = (await signInAndAllow(builtin, address)).searchParams.get("code") ?? "";
    const form = { grant_type: "authorization_code", client_id: client, code, code_verifier: verifier };
    const exchanged = Array.from({ length: 6 }, () => exchange(builtin, { ...form, redirect_uri: redirectUri }));
    const statuses = (await Promise.all(exchanged)).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 400).length).toBeLessThanOrEqual(1);
  });

  it("exchange a refresh token once", async () => {
    await using builtin = await startBuiltin({ shared: createTestStore() });
    const { refreshToken, client } = await connectClient(builtin);
    const form = { grant_type: "refresh_token", client_id: client, refresh_token: refreshToken };
    const answers = await Promise.all(Array.from({ length: 4 }, () => exchange(builtin, form)));
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    expect((await exchange(builtin, form)).status).toBe(400);
  });

  it("end what one of them revokes on both", async () => {
    const store = createTestStore();
    await using builtin = await startBuiltin({ shared: store });
    const { accessToken } = await connectClient(builtin);
    const verified = await Promise.all(instancesOf(builtin).map((instance) => instance.verify(accessToken, signal)));
    const ended = verified.map(
      ({ ended: end }) => new Promise<void>((resolve) => end?.addEventListener("abort", () => resolve())),
    );
    await createSharedOAuthStore(store, builtin.context.runtime).revoke("aki");
    await Promise.all(ended);
  });

  it("return the same signal each time they verify a token, which ends with the token of the sign-in", async () => {
    await using builtin = await startBuiltin({ shared: createTestStore() });
    const { accessToken, refreshToken, client } = await connectClient(builtin);
    const refreshed = await exchange(builtin, {
      grant_type: "refresh_token",
      client_id: client,
      refresh_token: refreshToken,
    });
    for (const instance of instancesOf(builtin)) {
      const tokens = [accessToken, accessToken, String(refreshed.body["access_token"])];
      const verified = await Promise.all(tokens.map((token) => instance.verify(token, signal)));
      expect(new Set(verified.map(({ ended }) => ended)).size).toBe(1);
      expect(verified[0]?.ended?.aborted).toBe(false);
    }
    const { ended } = await builtin.verifier.verify(accessToken, signal);
    builtin.endToken();
    expect(ended?.aborted).toBe(true);
  });

  it("refuse a token as not decidable while the sign-ins cannot be confirmed", async () => {
    const store = createTestStore();
    await using builtin = await startBuiltin({ shared: store });
    const { accessToken } = await connectClient(builtin);
    let nowMs = builtin.context.runtime.monotonicMs();
    Object.assign(builtin.context.runtime, { monotonicMs: () => nowMs });
    await builtin.restart();
    expect(await builtin.verifier.verify(accessToken, signal)).toMatchObject({ caller: "aki" });
    store.takeAway(true);
    expect(await builtin.verifier.verify(accessToken, signal)).toMatchObject({ caller: "aki" });
    nowMs += 10_000;
    await expect(builtin.verifier.verify(accessToken, signal)).rejects.toThrow("the store is away");
  });

  it("neither use nor refuse a grant while the token behind it cannot be confirmed", async () => {
    await using builtin = await startBuiltin({ shared: createTestStore() });
    const { accessToken, refreshToken, client } = await connectClient(builtin);
    const { findByHash, isCurrent } = builtin.context;
    Object.assign(builtin.context, { findByHash: () => undefined, isCurrent: () => false });
    for (const instance of instancesOf(builtin)) {
      const refused: unknown = await instance.verify(accessToken, signal).catch((cause: unknown) => cause);
      expect(refused).toMatchObject({ kind: "unavailable" });
    }
    const form = { grant_type: "refresh_token", client_id: client, refresh_token: refreshToken };
    expect((await exchange(builtin, form)).status).toBe(500);
    Object.assign(builtin.context, { findByHash, isCurrent });
    expect((await exchange(builtin, form)).status).toBe(200);
    expect(await builtin.verifier.verify(accessToken, signal)).toMatchObject({ caller: "aki" });
  });
});
