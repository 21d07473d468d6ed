import { expect, it } from "vitest";
import type { FetchedResponse } from "../../backends/web/guarded-request.ts";
import { createRuntime } from "../../server/runtime.ts";
import { createPace, retryAfterMs } from "./pace.ts";

/** A clock that jumps to the end of every wait. */
function jumpingClock() {
  const waits: number[] = [];
  let nowMs = 5000;
  const runtime = {
    ...createRuntime({ write: () => true }),
    monotonicMs: () => nowMs,
    now: () => nowMs,
    async wait(ms: number, signal: AbortSignal) {
      signal.throwIfAborted();
      waits.push(ms);
      nowMs += ms;
    },
  };
  return { runtime, waits };
}

const { signal } = new AbortController();
const url = new URL("https://a.example/x");
const response = (status: number, headers: FetchedResponse["headers"] = {}): FetchedResponse => ({
  status,
  headers,
  bytes: Buffer.alloc(0),
  url,
});

it("requests of a crawl keep the delay that the host asks for; those of a person do not wait", async () => {
  const { runtime, waits } = jumpingClock();
  const pace = createPace(runtime, async ({ host }) => (host === "a.example" ? 3000 : 0));
  for (let time = 0; time < 3; time += 1) await pace(url, { isCrawl: true, signal }, async () => response(200));
  expect(waits).toEqual([3000, 3000]);
  await pace(url, { isCrawl: false, signal }, async () => response(200));
  await pace(new URL("https://b.example/"), { isCrawl: true, signal }, async () => response(200));
  expect(waits).toHaveLength(2);
});

it("at most two requests of a crawl run at once at each host", async () => {
  const pace = createPace(jumpingClock().runtime, async () => 0);
  const ends: (() => void)[] = [];
  let running = 0;
  let most = 0;
  const all = Array.from({ length: 6 }, () =>
    pace(url, { isCrawl: true, signal }, async () => {
      most = Math.max(most, (running += 1));
      await new Promise<void>((resolve) => ends.push(resolve));
      running -= 1;
      return response(200);
    }),
  );
  for (let done = 0; done < 6; done += 1) {
    await expect.poll(() => ends.length).toBeGreaterThan(0);
    ends.shift()?.();
  }
  await Promise.all(all);
  expect(most).toBe(2);
});

it.each([
  [429, { "retry-after": "7" }, 7000],
  [429, {}, 10_000],
  [503, { "retry-after": new Date(12_000).toUTCString() }, 7000],
])(
  "after %i with %j nothing is sent for as long: a person is told, a crawl waits",
  async (status, headers, pauseMs) => {
    const { runtime, waits } = jumpingClock();
    const pace = createPace(runtime, async () => 0);
    let sent = 0;
    const send = (answer: FetchedResponse) => async () => {
      sent += 1;
      return answer;
    };
    await pace(url, { isCrawl: false, signal }, send(response(status, headers)));
    await expect(pace(url, { isCrawl: false, signal }, send(response(200)))).rejects.toMatchObject({
      kind: "busy",
      details: { retryAfterMs: pauseMs },
    });
    expect([sent, waits]).toEqual([1, []]);
    await pace(url, { isCrawl: true, signal }, send(response(200)));
    expect([sent, waits]).toEqual([2, [pauseMs]]);
  },
);

it("a pause without a given length doubles; a crawl does not wait for a long one", async () => {
  const { runtime, waits } = jumpingClock();
  const pace = createPace(runtime, async () => 0);
  for (let time = 0; time < 3; time += 1) await pace(url, { isCrawl: true, signal }, async () => response(429));
  expect(waits).toEqual([10_000, 20_000]);
  await pace(url, { isCrawl: true, signal }, async () => response(429, { "retry-after": "600" }));
  await expect(pace(url, { isCrawl: true, signal }, async () => response(200))).rejects.toMatchObject({ kind: "busy" });
});

it.each([
  ["7", 7000],
  ["Thu, 01 Jan 1970 00:00:09 GMT", 4000],
  ["Thu, 01 Jan 1970 00:00:01 GMT", 0],
  ["999999999", 86_400_000],
  ["soon", undefined],
  ["", undefined],
  [undefined, undefined],
])("Retry-After %j is %j ms", (header, ms) => {
  expect(retryAfterMs(header, 5000)).toBe(ms);
});
