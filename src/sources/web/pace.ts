/** Keeps requests to each host polite: two at a time, at the host's crawl delay, and none while the host asks for a pause. */
import { ResourceError } from "../../errors.ts";
import { createSlots } from "../../lib/create-slots.ts";
import { Lru } from "../../lib/lru.ts";
import type { Runtime } from "../../source.ts";
import type { FetchedResponse } from "../../backends/web/guarded-request.ts";

export interface Turn {
  /** True for a request that no person waits for: it waits for its turn. */
  readonly isCrawl: boolean;
  readonly signal: AbortSignal;
}

export type Pace = (url: URL, turn: Turn, send: () => Promise<FetchedResponse>) => Promise<FetchedResponse>;

interface HostState {
  readonly slots: ReturnType<typeof createSlots>;
  /** Time before which no further request of a crawl begins. */
  nextMs: number;
  pausedUntilMs: number;
  /** Number of times in a row that the host asked for a pause. */
  pauses: number;
}

/** A longer crawl delay is not obeyed but refused: the site is not crawled. */
export const maxCrawlDelayMs = 60_000;
const maxConcurrent = 2;
const maxHosts = 1000;
/** A crawl waits for the end of a shorter pause, and fails during a longer one. */
const maxWaitMs = 60_000;
const firstPauseMs = 10_000;
const maxPauseMs = 60 * 60 * 1000;

/** `delayOf` is the crawl delay that a host asks for. */
export function createPace(runtime: Runtime, delayOf: (url: URL) => Promise<number>): Pace {
  const hosts = new Lru<string, HostState>({ maxEntries: maxHosts });

  function stateOf(origin: string): HostState {
    const state = hosts.get(origin) ?? {
      slots: createSlots(maxConcurrent),
      nextMs: -Infinity,
      pausedUntilMs: -Infinity,
      pauses: 0,
    };
    hosts.set(origin, state);
    return state;
  }

  async function waitForPause(state: HostState, { isCrawl, signal }: Turn): Promise<void> {
    for (;;) {
      const leftMs = Math.ceil(state.pausedUntilMs - runtime.monotonicMs());
      if (!(leftMs > 0)) return;
      if (!isCrawl || leftMs > maxWaitMs)
        throw new ResourceError("busy", "the site limits requests; try again later", {
          details: { retryAfterMs: leftMs },
        });
      await runtime.wait(leftMs, signal);
    }
  }

  async function waitForTurn(state: HostState, url: URL, signal: AbortSignal): Promise<void> {
    const delayMs = Math.min(await delayOf(url), maxCrawlDelayMs);
    const atMs = Math.max(state.nextMs, runtime.monotonicMs());
    state.nextMs = atMs + delayMs;
    const waitMs = atMs - runtime.monotonicMs();
    if (waitMs > 0) await runtime.wait(waitMs, signal);
  }

  function noticePause(state: HostState, { status, headers }: FetchedResponse): void {
    const askedMs = retryAfterMs(headers["retry-after"], runtime.now());
    if (status !== 429 && !(status === 503 && askedMs !== undefined)) {
      state.pauses = 0;
      return;
    }
    const pauseMs = askedMs ?? firstPauseMs * 2 ** Math.min(state.pauses, 10);
    state.pauses += 1;
    state.pausedUntilMs = runtime.monotonicMs() + Math.min(pauseMs, maxPauseMs);
  }

  return async (url, turn, send) => {
    const state = stateOf(url.origin);
    if (!turn.isCrawl) {
      await waitForPause(state, turn);
      const response = await send();
      noticePause(state, response);
      return response;
    }
    const leave = await state.slots(turn.signal);
    try {
      await waitForPause(state, turn);
      await waitForTurn(state, url, turn.signal);
      const response = await send();
      noticePause(state, response);
      return response;
    } finally {
      leave();
    }
  };
}

/** By seconds or by date (RFC 9110). Undefined if the header is absent or invalid. */
export function retryAfterMs(header: string | readonly string[] | undefined, nowMs: number): number | undefined {
  if (typeof header !== "string" || header.trim() === "") return undefined;
  const ms = /^\s*\d+\s*$/.test(header) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), 86_400_000) : undefined;
}
