import { expect, it } from "vitest";
import { createQuotas, type Quotas } from "../access/quotas.ts";
import { invalid, ResourceError } from "../errors.ts";
import type { Action, Call, Resources } from "../resources.ts";
import { createClock } from "../testing/clock.ts";
import { createActionEndpoint } from "./action-endpoint.ts";
import { serveFake } from "./test-server.ts";

const action = (mount: string, name: string, endpoint?: string): Action => ({
  mount,
  name,
  description: "Do it.",
  inputSchema: {},
  readOnly: false,
  ...(endpoint !== undefined && { endpoint }),
});

const echo: NonNullable<Resources["act"]> = async ({ mount, name }, input) => ({
  value: { mount, name, input },
  resources: [],
});

async function serve(actions: readonly Action[], act?: NonNullable<Resources["act"]>, options = {}, quotas?: Quotas) {
  const posts = createActionEndpoint({ actions: async () => actions, act: act ?? echo }, undefined, quotas);
  const { listening } = await serveFake({}, { posts, ...options });
  const post = async (path: string, body: string, headers: Record<string, string> = {}) => {
    const response = await fetch(new URL(path, listening.url), {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body,
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
  };
  return { post, listening };
}

it("JSON is posted to an action, and JSON comes back", async () => {
  const { post } = await serve([action("wall", "find")]);
  expect(await post("/actions/wall/find", '{"a":[1]}')).toMatchObject({
    status: 200,
    body: { mount: "wall", name: "find", input: { a: [1] } },
  });
});

it("a mount may have any name", async () => {
  const { post } = await serve([action("会議 1", "find")]);
  expect(await post(`/actions/${encodeURIComponent("会議 1")}/find`, "{}")).toMatchObject({ status: 200 });
});

it("a path of its own leads to the only action with that `door`", async () => {
  const { post } = await serve([action("a", "store", "analysis"), action("a", "find")]);
  expect(await post("/analysis", "{}")).toMatchObject({ status: 200, body: { name: "store" } });
  const two = await serve([action("a", "store", "analysis"), action("b", "store", "analysis")]);
  expect(await two.post("/analysis", "{}")).toMatchObject({ status: 404 });
});

it("what is not there answers as any other path that leads nowhere", async () => {
  const { post } = await serve([action("wall", "find")]);
  const nowhere = (await post("/deep/nowhere", "{}")).body;
  for (const path of [
    "/actions/wall/other",
    "/actions/other/find",
    "/actions/wall",
    "/actions/wall/find/x",
    "/actions/%zz/find",
    "/find",
  ]) {
    const { status, body } = await post(path, "{}");
    expect(status).toBe(404);
    expect(JSON.stringify(body).replace(path, "/deep/nowhere")).toBe(JSON.stringify(nowhere));
  }
});

it("what is refused has a status and a sentence", async () => {
  const errors: Readonly<Record<string, () => unknown>> = {
    invalid: () => invalid('"prompt" is missing', { fields: { prompt: "is missing" } }),
    busy: () => new ResourceError("busy", "later", { details: { retryAfterMs: 2500 } }),
    gone: () => new ResourceError("not-found", "no"),
    closing: () => new ResourceError("cancelled", "the house is closing"),
    bug: () => new Error("a secret of ours"),
  };
  const { post } = await serve(
    Object.keys(errors).map((name) => action("m", name)),
    ({ name }) => Promise.reject(errors[name]!()),
  );
  expect(await post("/actions/m/invalid", "{}")).toMatchObject({
    status: 400,
    body: { error: { kind: "invalid", message: '"prompt" is missing', details: { fields: { prompt: "is missing" } } } },
  });
  const busy = await post("/actions/m/busy", "{}");
  expect([busy.status, busy.headers.get("retry-after")]).toEqual([503, "3"]);
  expect((await post("/actions/m/gone", "{}")).status).toBe(404);
  expect((await post("/actions/m/closing", "{}")).status).toBe(503);
  const bug = await post("/actions/m/bug", "{}");
  expect(bug.status).toBe(500);
  expect(JSON.stringify(bug.body)).not.toContain("secret");
});

it("takes nothing but JSON, of known callers, from pages of its own", async () => {
  const { post } = await serve([action("wall", "find")], undefined, {
    identify: ({ headers }: { headers: Record<string, unknown> }) =>
      headers["authorization"] === "Bearer me" ? { id: "me" } : undefined,
  });
  const me = { Authorization: "Bearer me" };
  expect((await post("/actions/wall/find", "{}")).status).toBe(401);
  expect((await post("/actions/wall/find", "{}", me)).status).toBe(200);
  expect((await post("/actions/wall/find", "{", me)).status).toBe(400);
  expect((await post("/actions/wall/find", "{}", { ...me, "Content-Type": "text/plain" })).status).toBe(415);
  expect((await post("/actions/wall/find", "{}", { ...me, Origin: "https://evil.example" })).status).toBe(403);
});

it("disconnecting cancels the call", async () => {
  const begun = Promise.withResolvers<Call>();
  const { listening } = await serve([action("wall", "find")], (_what, _input, call) => {
    begun.resolve(call);
    return new Promise((_, reject) => call.signal.addEventListener("abort", () => reject(call.signal.reason as Error)));
  });
  const leaving = new AbortController();
  const asked = fetch(new URL("/actions/wall/find", listening.url), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: "{}",
    signal: leaving.signal,
  });
  const { signal } = await begun.promise;
  const cancelled = new Promise((resolve) => signal.addEventListener("abort", resolve));
  leaving.abort();
  await expect(asked).rejects.toThrow();
  await cancelled;
});

it("a caller that has used up a quota gets 429 and the time to wait", async () => {
  const quotas = createQuotas(createClock().runtime);
  quotas.reload({ anyone: { bytesPerMinute: 10 } });
  const { post } = await serve([action("wall", "find")], undefined, {}, quotas);
  expect(await post("/actions/wall/find", '{"a":"twenty bytes or more"}')).toMatchObject({ status: 200 });
  const refused = await post("/actions/wall/find", "{}");
  expect(refused).toMatchObject({
    status: 429,
    body: { error: { kind: "busy", details: { quota: "bytesPerMinute" } } },
  });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(60);
});

it("a path counts as writing unless a read-only action is there", async () => {
  const call: Call = { caller: { id: "me" }, signal: new AbortController().signal };
  const { writes } = createActionEndpoint({
    actions: async () => [{ ...action("wall", "look"), readOnly: true }, action("wall", "paint")],
  });
  const paths = ["/actions/wall/look", "/actions/wall/paint", "/actions/wall/soon", "/soon"];
  expect(await Promise.all(paths.map((path) => writes(path, call)))).toEqual([false, true, true, true]);
});
