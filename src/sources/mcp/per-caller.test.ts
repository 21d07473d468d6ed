/** Token exchange, with a real authorization server: the other server sees each caller, and never a caller's own token. */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import {
  type Authority,
  type OAuthUpstream,
  startAuthority,
  startOAuthUpstream,
} from "../../../test/client/oauth-upstream.ts";
import type { Caller } from "../../resources.ts";
import { createRuntime } from "../../server/runtime.ts";
import { refusal } from "../../testing/refusal.ts";
import mcp from "../mcp.ts";

const clientSecret = randomUUID();
const note = { path: "notes:\0\0all/a" };
const idle = { signal: new AbortController().signal };
let authority: Authority;
let upstream: OAuthUpstream;
const logged: string[] = [];

beforeAll(async () => {
  const grant_types = ["urn:ietf:params:oauth:grant-type:token-exchange"];
  const exchanger = { client_id: "pressmark", client_secret: clientSecret, redirect_uris: [], response_types: [] };
  authority = await startAuthority([{ ...exchanger, grant_types }]);
});
afterAll(() => authority[Symbol.asyncDispose]());
beforeEach(async () => {
  upstream = await startOAuthUpstream(authority.issuer);
  logged.length = 0;
});
afterEach(() => upstream[Symbol.asyncDispose]());

/** A caller who signed in at the authority, and the token with which they did. */
async function signedIn(id: string) {
  const token = await authority.tokenOf(id, "https://pressmark.example/mcp");
  const stop = new AbortController();
  const caller: Caller = {
    id,
    ended: stop.signal,
    subjectToken: (issuer) => (issuer === authority.issuer ? token : undefined),
  };
  return { token, stop, call: { ...idle, caller } };
}

async function open(more: object = {}) {
  const auth = { grant: "token_exchange", issuer: authority.issuer, clientId: "pressmark", clientSecret };
  const options = mcp.options(z).parse({ url: upstream.url, auth, timeoutMs: 10_000, ...more });
  const runtime = createRuntime({ write: (line: string) => Boolean(logged.push(line)) });
  const source = await mcp.open(options, runtime);
  onTestFinished(() => source.close?.());
  return source;
}

it("reads as each caller, whose own token stays here", async () => {
  const [aki, ben] = [await signedIn("aki"), await signedIn("ben")];
  const source = await open();
  for (const { call } of [aki, ben, aki]) {
    expect((await source.read(note, call))[0]?.body).toEqual({ text: "alpha" });
    expect((await source.list({ limit: 10 }, call)).items).toHaveLength(1);
  }
  expect([...upstream.users].sort()).toEqual(["aki", "ben"]);
  expect(new Set(upstream.received.map(({ headers }) => headers.authorization).filter(Boolean)).size).toBe(2);
  const seen = JSON.stringify(upstream.received) + logged.join("");
  for (const { token, call } of [aki, ben]) {
    expect(seen).not.toContain(token);
    expect(JSON.stringify(call)).not.toContain(token);
  }
});

it.each<Caller>([
  { id: "local", owner: true },
  { id: "of another issuer", subjectToken: (issuer) => (issuer === "https://issuer.example" ? "token" : undefined) },
])("refuses the caller $id, who has no token of this issuer", async (caller) => {
  const source = await open();
  const { message } = await refusal(source.read(note, { ...idle, caller }), ["denied"], "no token");
  expect(message).toContain("this caller has no token");
  expect(upstream.received).toEqual([]);
});

it("calls tools as each caller", async () => {
  const source = await open({ tools: true });
  for (const id of ["aki", "ben"]) {
    const { call } = await signedIn(id);
    expect(await source.relayed?.tools(call)).toMatchObject([{ name: "greet" }]);
    const called = source.relayed?.callTool("greet", {}, { clientCapabilities: {} }, call);
    expect(await called).toEqual({ content: [{ type: "text", text: "hello" }] });
  }
  const calls = upstream.received.filter(({ body }) => body.includes("tools/call"));
  expect(new Set(calls.map(({ headers }) => headers.authorization)).size).toBe(2);
  expect([...upstream.users].sort()).toEqual(["aki", "ben"]);
  const nobody = { ...idle, caller: { id: "local" } };
  await refusal(source.relayed!.tools(nobody), ["denied"], "no token");
});

it("ends with the caller", async () => {
  const { call, stop } = await signedIn("aki");
  const source = await open();
  await source.read(note, call);
  stop.abort();
  await refusal(source.read(note, call), ["cancelled"], "an ended caller");
});

it("has nothing that callers would share", async () => {
  const source = await open();
  expect([source.templates, source.learnTemplates, source.lists]).toEqual([undefined, undefined, undefined]);
  expect([source.watchesPerCaller, source.isUnordered]).toEqual([true, true]);
});
