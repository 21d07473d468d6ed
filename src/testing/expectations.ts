/** Assertions of the contracts. A failure states what was expected, of which value, and what was found. */
import { AssertionError } from "node:assert";
import { inspect, isDeepStrictEqual } from "node:util";
import { compareAddresses } from "../lib/address-order.ts";
import type { Address, Entry, Source } from "../source.ts";

const longest = 1500;

/** Shows a value in a message, shortened. */
export function show(value: unknown): string {
  const text = inspect(value, { depth: 6, breakLength: 120, maxArrayLength: 60, maxStringLength: 300 });
  return text.length > longest ? `${text.slice(0, longest)} …` : text;
}

export function expectTrue(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError({ message, actual: condition, expected: true });
}

/** Compares by value; a property that is undefined counts as absent. */
export function expectEqual(actual: unknown, expected: unknown, about: string): void {
  const [left, right] = [withoutUndefined(actual), withoutUndefined(expected)];
  if (isDeepStrictEqual(left, right)) return;
  const message = `${about}: expected ${show(right)}, got ${show(left)}`;
  throw new AssertionError({ message, actual: left, expected: right });
}

/** Expects all `wanted` in `actual`, in any order. */
export function expectIncludes<T>(actual: Iterable<T>, wanted: readonly T[], about: string): void {
  const found = new Set(actual);
  const absent = wanted.filter((each) => !found.has(each));
  if (absent.length === 0) return;
  const message = `${about}: ${absent.map(show).join(", ")} is missing; found ${show([...found])}`;
  throw new AssertionError({ message, actual: [...found], expected: wanted });
}

/** Expects the same values in the same order; names those that are missing and those that are too many. */
export function expectSequence(actual: readonly string[], expected: readonly string[], about: string): void {
  if (isDeepStrictEqual(actual, expected)) return;
  const absent = expected.filter((each) => !actual.includes(each));
  const extra = actual.filter((each, index) => !expected.includes(each) || actual.indexOf(each) !== index);
  const differs = actual.findIndex((each, index) => each !== expected[index]);
  const message = [
    about,
    absent.length > 0 ? `${absent.map(show).join(", ")} is missing` : [],
    extra.length > 0 ? `${extra.map(show).join(", ")} is too much` : [],
    absent.length + extra.length === 0 ? `${show(actual[differs])} is in the place of ${show(expected[differs])}` : [],
  ].flat();
  throw new AssertionError({ message: `${message[0]}: ${message.slice(1).join("; ")}`, actual, expected });
}

/** Expects none of `unwanted` in `actual`. */
export function expectExcludes<T>(actual: Iterable<T>, unwanted: readonly T[], about: string): void {
  const found = new Set(actual);
  const present = unwanted.filter((each) => found.has(each));
  expectTrue(present.length === 0, `${about}: ${present.map(show).join(", ")} must not be there`);
}

export function expectSome(items: readonly unknown[], about: string): void {
  expectTrue(items.length > 0, `${about}: expected at least one, got none`);
}

/** Expects every value once. */
export function expectUnique(values: readonly string[], about: string): void {
  const seen = new Set<string>();
  for (const value of values) {
    expectTrue(!seen.has(value), `${about}: ${show(value)} occurs twice`);
    seen.add(value);
  }
}

/** Expects every address once, in the order of the source. */
export function expectOrdered(
  entries: readonly Address[],
  order: Source["order"] = compareAddresses,
  about = "the list",
): void {
  expectUnique(entries.map(formatAddress), about);
  for (const [index, { path }] of entries.entries()) {
    const before = entries[index - 1]?.path;
    if (before === undefined || order(before, path) <= 0) continue;
    const name = order === compareAddresses ? "address order" : "the source's own `order`";
    throw new AssertionError({
      message: `${about} is not in ${name}: ${show(before)} before ${show(path)}`,
      actual: entries.map((entry) => entry.path),
      expected: entries.map((entry) => entry.path).sort(order),
    });
  }
}

/** Expects of a directory that it does not look like a resource. */
export function expectPlainDirectory({ path, hasChildren, size }: Entry): void {
  const isPlain = hasChildren === undefined && size === undefined;
  expectTrue(isPlain, `${show(path)} is a directory: its entry must have neither \`hasChildren\` nor \`size\``);
}

/** An address as one text, to compare and to show. */
export function formatAddress({ path, query }: Address): string {
  return query ? JSON.stringify([path, Object.entries(query).sort()]) : path;
}

function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  const pairs = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(pairs.map(([key, each]) => [key, withoutUndefined(each)]));
}
