/** A fault that the contract must find: a few lines that make a right source wrong. */
import { compareAddresses } from "../../src/lib/address-order.ts";
import type { Call, Page } from "../../src/resources.ts";
import type { Ability } from "../../src/testing/index.ts";
import type { Address, Entry, ListRequest, Source } from "../../src/source.ts";

export interface Mutant {
  /** The fault: predicate of a sentence whose subject is the source. */
  readonly name: string;
  /** The group of the contract that finds it. */
  readonly group: string;
  /** What the error must contain, where the words matter to authors. */
  readonly says?: RegExp;
  /** The fault is possible only in a source with this ability. */
  readonly needs?: Ability;
  wrap(source: Source): Partial<Source>;
}

/** Changes each page of `list`. */
export function onPages(
  source: Source,
  change: (page: Page<Entry>, request: ListRequest, call: Call) => Page<Entry> | Promise<Page<Entry>>,
): Partial<Source> {
  return { list: async (request, call) => change(await source.list(request, call), request, call) };
}

/** Pages by position in the whole list: what a backend without cursors tempts to. */
export function byPosition(all: (call: Call) => Promise<readonly Entry[]>): Source["list"] {
  return async ({ cursor = "0", limit }, call) => {
    const entries = await all(call);
    const end = Number(cursor) + limit;
    const items = entries.slice(Number(cursor), end);
    return end < entries.length ? { items, next: String(end) } : { items };
  };
}

/** All entries of a list, in its order. */
export async function everyEntry(source: Source, call: Call): Promise<Entry[]> {
  const { order = compareAddresses } = source;
  const { items } = await source.list({ limit: 100_000 }, call);
  return [...items].sort((left, right) => order(left.path, right.path));
}

/** Answers a repeated request as the first time. */
export function remembering<Args extends readonly unknown[], T>(
  method: (...args: Args) => Promise<T>,
): (...args: Args) => Promise<T> {
  const results = new Map<string, Promise<T>>();
  return (...args) => {
    const key = JSON.stringify(args.slice(0, -1));
    const result = results.get(key) ?? method(...args);
    results.set(key, result);
    return result;
  };
}

export function withoutQuery({ path }: Address): Address {
  return { path };
}
