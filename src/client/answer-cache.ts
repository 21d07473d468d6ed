/** Caches responses: for as long as the server allows, for those it allows, and until it announces a change. */
import { cutAt } from "../lib/cut-at.ts";
import type { Freshness } from "../resources.ts";

/** May be shared by several connections. */
export interface AnswerCache {
  /** Includes the remaining time. */
  get<T>(key: CachedAnswerKey): { readonly answer: T; readonly leftMs: number } | undefined;
  /** Also if it is stale; only for a response with a validator, with which the server can be asked whether it has changed. */
  getStale<T>(key: CachedAnswerKey): { readonly answer: T; readonly validator: string } | undefined;
  /** Call it before the request, and its result with the response, or without. It is stale if a change was announced in between. */
  expect(key: CachedAnswerKey): (answer?: CacheableAnswer) => void;
  /** The responses about this URI of this server, or about a part of it, become stale. */
  forget(server: string, uri: string): void;
  /** All lists of this server become stale. */
  forgetLists(server: string): void;
}

export interface CacheableAnswer {
  readonly value: unknown;
  readonly freshness: Freshness;
  /** Without it, a stale response is removed. */
  readonly validator?: string;
}

export interface CachedAnswerKey {
  readonly server: string;
  /** Owner of the response. Public responses are shared by all identities. */
  readonly identity: string;
  readonly isList: boolean;
  /** The one URI that the request is about. */
  readonly uri?: string;
  /** The request, and the cursor if there is one. */
  readonly requestKey: string;
}

interface CachedAnswer {
  readonly key: CachedAnswerKey;
  readonly answer: unknown;
  readonly validator?: string;
  untilMs: number;
  readonly weight: number;
}

export interface AnswerCacheOptions {
  readonly maxEntries?: number;
  /** Approximate maximum size in bytes. */
  readonly maxWeight?: number;
  readonly now?: () => number;
}

/** Evicts the least recently used first. */
export function createAnswerCache({
  maxEntries = 1000,
  maxWeight = 32 * 1024 * 1024,
  now = () => performance.now(),
}: AnswerCacheOptions = {}): AnswerCache {
  const answers = new Map<string, CachedAnswer>();
  /** Requests in progress. */
  const expected = new Set<{ readonly key: CachedAnswerKey; isOverdue: boolean }>();
  let weight = 0;

  // Public and private keys cannot collide: an identity is prefixed with a letter.
  const format = ({ server, uri, requestKey }: CachedAnswerKey, owner: string) =>
    JSON.stringify([server, owner, requestKey, uri]);
  const ownOf = ({ identity }: CachedAnswerKey) => `p${identity}`;

  function drop(text: string): void {
    weight -= answers.get(text)?.weight ?? 0;
    answers.delete(text);
  }

  function take(text: string, isWanted: (cached: CachedAnswer) => boolean): CachedAnswer | undefined {
    const cached = answers.get(text);
    if (!cached) return undefined;
    if (cached.validator === undefined && !isFresh(cached)) drop(text);
    if (!isWanted(cached)) return undefined;
    answers.delete(text);
    answers.set(text, cached);
    return cached;
  }

  function find(key: CachedAnswerKey, isWanted: (cached: CachedAnswer) => boolean): CachedAnswer | undefined {
    return take(format(key, ownOf(key)), isWanted) ?? take(format(key, ""), isWanted);
  }

  const isFresh = ({ untilMs }: CachedAnswer) => untilMs > now();

  function forgetWhere(matches: (key: CachedAnswerKey) => boolean): void {
    for (const [text, cached] of answers)
      if (matches(cached.key)) {
        if (cached.validator === undefined) drop(text);
        else cached.untilMs = -Infinity;
      }
    for (const each of expected) if (matches(each.key)) each.isOverdue = true;
  }

  return {
    get<T>(key: CachedAnswerKey) {
      const cached = find(key, isFresh);
      return cached && { answer: cached.answer as T, leftMs: cached.untilMs - now() };
    },
    getStale<T>(key: CachedAnswerKey) {
      const { answer, validator } = find(key, (cached) => cached.validator !== undefined) ?? {};
      return validator === undefined ? undefined : { answer: answer as T, validator };
    },
    expect(key) {
      const waiting = { key, isOverdue: false };
      expected.add(waiting);
      return (answer) => {
        expected.delete(waiting);
        if (!answer) return;
        const { value, freshness, validator } = answer;
        const untilMs = waiting.isOverdue ? -Infinity : now() + freshness.ttlMs;
        if (validator === undefined && untilMs <= now()) return;
        const heavy = weigh(value);
        if (heavy > maxWeight / 4) return;
        const text = format(key, freshness.scope === "public" ? "" : ownOf(key));
        drop(text);
        answers.set(text, { key, answer: value, validator, untilMs, weight: heavy });
        weight += heavy;
        for (const oldest of answers.keys()) {
          if (answers.size <= maxEntries && weight <= maxWeight) break;
          drop(oldest);
        }
      };
    },
    forget: (server, uri) => forgetWhere((key) => key.server === server && wholeOf(key.uri) === wholeOf(uri)),
    forgetLists: (server) => forgetWhere((key) => key.server === server && key.isList),
  };
}

/** Removes the query, which requests ranges and other forms of a resource. */
function wholeOf(uri: string | undefined): string | undefined {
  return uri === undefined ? undefined : cutAt(uri, /[?#]/);
}

/** Approximate size of a response in bytes. */
function weigh(answer: unknown): number {
  if (typeof answer === "string") return 2 * answer.length;
  if (answer instanceof Uint8Array) return answer.length;
  if (typeof answer !== "object" || answer === null) return 8;
  return Object.values(answer).reduce<number>((sum, each) => sum + weigh(each), 64);
}
