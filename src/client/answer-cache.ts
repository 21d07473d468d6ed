/** Answers that may be given again: for as long as the server said, to those it said, and until it announces a change. */
import { cutAt } from "../lib/cut-at.ts";
import type { Freshness } from "../resources.ts";

/** May be shared by several connections. */
export interface AnswerCache {
  /** With how long it may still be kept. */
  get<T>(key: CachedAnswerKey): { readonly answer: T; readonly leftMs: number } | undefined;
  /** Called before the question is put; what it gives is called with the answer, or without. Keeps it, unless a change was announced in between. */
  expect(key: CachedAnswerKey): (answer?: { readonly value: unknown; readonly freshness: Freshness }) => void;
  /** What was said of this URI of this server, or of a part of it, is no longer true. */
  forget(server: string, uri: string): void;
  /** No list of this server is true any longer. */
  forgetLists(server: string): void;
}

export interface CachedAnswerKey {
  readonly server: string;
  /** Whose answers these are. What is public is shared by all identities. */
  readonly identity: string;
  readonly isList: boolean;
  /** The one URI that the question is about. */
  readonly uri?: string;
  /** What is asked, and the cursor, where there is one. */
  readonly question: string;
}

interface Kept {
  readonly key: CachedAnswerKey;
  readonly answer: unknown;
  readonly untilMs: number;
  readonly weight: number;
}

export interface AnswerCacheOptions {
  readonly maxEntries?: number;
  /** About how many bytes all of it may take. */
  readonly maxWeight?: number;
  readonly now?: () => number;
}

/** The least recently used goes first. */
export function createAnswerCache({
  maxEntries = 1000,
  maxWeight = 32 * 1024 * 1024,
  now = () => performance.now(),
}: AnswerCacheOptions = {}): AnswerCache {
  const answers = new Map<string, Kept>();
  /** Questions under way. */
  const expected = new Set<{ readonly key: CachedAnswerKey; isOverdue: boolean }>();
  let weight = 0;

  // The two cannot be mistaken for each other: an identity is spelled with a letter before it.
  const format = ({ server, uri, question }: CachedAnswerKey, owner: string) =>
    JSON.stringify([server, owner, question, uri]);
  const ownOf = ({ identity }: CachedAnswerKey) => `p${identity}`;

  function drop(spelled: string): void {
    weight -= answers.get(spelled)?.weight ?? 0;
    answers.delete(spelled);
  }

  function take(spelled: string): Kept | undefined {
    const kept = answers.get(spelled);
    if (!kept) return undefined;
    if (kept.untilMs <= now()) {
      drop(spelled);
      return undefined;
    }
    answers.delete(spelled);
    answers.set(spelled, kept);
    return kept;
  }

  function forgetWhere(isMeant: (key: CachedAnswerKey) => boolean): void {
    for (const [spelled, { key }] of answers) if (isMeant(key)) drop(spelled);
    for (const each of expected) if (isMeant(each.key)) each.isOverdue = true;
  }

  return {
    get<T>(key: CachedAnswerKey) {
      const kept = take(format(key, ownOf(key))) ?? take(format(key, ""));
      return kept && { answer: kept.answer as T, leftMs: kept.untilMs - now() };
    },
    expect(key) {
      const waiting = { key, isOverdue: false };
      expected.add(waiting);
      return (answer) => {
        expected.delete(waiting);
        if (!answer || answer.freshness.ttlMs <= 0 || waiting.isOverdue) return;
        const { value, freshness } = answer;
        const heavy = weigh(value);
        if (heavy > maxWeight / 4) return;
        const spelled = format(key, freshness.scope === "public" ? "" : ownOf(key));
        drop(spelled);
        answers.set(spelled, { key, answer: value, untilMs: now() + freshness.ttlMs, weight: heavy });
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

/** Ranges and other forms of a resource are asked for with a query. */
function wholeOf(uri: string | undefined): string | undefined {
  return uri === undefined ? undefined : cutAt(uri, /[?#]/);
}

/** About how many bytes an answer takes. */
function weigh(answer: unknown): number {
  if (typeof answer === "string") return 2 * answer.length;
  if (answer instanceof Uint8Array) return answer.length;
  if (typeof answer !== "object" || answer === null) return 8;
  return Object.values(answer).reduce<number>((sum, each) => sum + weigh(each), 64);
}
