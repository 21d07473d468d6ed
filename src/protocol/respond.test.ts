import { expect, it } from "vitest";
import { ResourceError } from "../errors.ts";
import { failure, observed, progressOf } from "./respond.ts";
import { ProtocolError } from "./message.ts";
import type { RequestOutcome } from "./request-observer.ts";
import { revision20251125 } from "./revisions/2025-11-25.ts";

it("progress increases, and a slow reader gets it again after catching up", async () => {
  const said: unknown[] = [];
  let slow: PromiseWithResolvers<void> | undefined;
  const progress = progressOf({ _meta: { progressToken: 7 } }, revision20251125, (_method, { progress: done }) => {
    said.push(done);
    return slow?.promise;
  });
  progress?.(1);
  progress?.(1);
  slow = Promise.withResolvers();
  for (let done = 2; done < 1000; done++) progress?.(done);
  expect(said).toEqual([1, 2]);
  slow.resolve();
  await slow.promise;
  progress?.(1000);
  expect(said).toEqual([1, 2, 1000]);
});

it("progress in a type that JSON does not have is sent as numbers", () => {
  const said: unknown[] = [];
  const progress = progressOf({ _meta: { progressToken: 7 } }, revision20251125, (_method, about) => {
    said.push(JSON.parse(JSON.stringify(about)));
  });
  progress?.(1n as unknown as number, 10n as unknown as number);
  expect(said).toEqual([{ progressToken: 7, progress: 1, total: 10 }]);
});

it("every error of a source gives a response", () => {
  expect(answer(new ResourceError("too-large", "it is too large", { details: { bytes: 10n } }))).toEqual({
    code: -32602,
    message: "it is too large",
    data: { uri: "a:b", bytes: 10 },
  });
  let times = 0;
  const changing = { toJSON: () => (times++ === 0 ? {} : fail()) };
  const internal = { code: -32603, message: "internal error; see the server's log for details" };
  for (const thrown of [
    new ProtocolError(-32602, "x", { data: { big: 10n } }),
    new ResourceError("invalid", "x", { details: { changing } }),
    new Proxy({}, { getPrototypeOf: fail, has: fail }),
    { [Symbol.for("pressmark.ResourceError")]: true },
  ])
    expect(answer(thrown)).toEqual(internal);
});

it("an observer hears of requests, not of responses", () => {
  const heard: RequestOutcome[] = [];
  const observer = {
    came() {},
    requested() {},
    read() {},
    answered: (outcome: RequestOutcome) => void heard.push(outcome),
  };
  const reply = { notify() {}, end() {} };
  observed({ jsonrpc: "2.0", id: 1, result: {} }, reply, observer, oldRevision, ({ end }) => end());
  observed({ jsonrpc: "2.0", id: 1, method: "ping" }, reply, observer, oldRevision, ({ end }) => end());
  expect(heard).toMatchObject([{ method: "ping", revision: "2025-11-25", outcome: "cancelled" }]);
});

function oldRevision(): string {
  return "2025-11-25";
}

function fail(): never {
  throw new Error("this member fails");
}

/** The error of the response to a request that failed with this. */
function answer(thrown: unknown): unknown {
  const { wire } = failure(1, thrown, revision20251125, { uri: "a:b" }, () => {});
  return (JSON.parse(wire.join("")) as { readonly error: unknown }).error;
}
