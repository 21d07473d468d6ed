/**
 * Merges the pages of many sources into pages of one list. Hidden entries affect nothing but the time it takes and, in a list without
 * order, on which pages an entry is repeated.
 */
import { cancelled, ResourceError, toResourceError } from "../errors.ts";
import { compareAddresses } from "../lib/address-order.ts";
import { createTimeSlices } from "../lib/time-slices.ts";
import type { Call, MountFailure, Page, Resource } from "../resources.ts";
import type { Address, Entry, ListRequest } from "../source.ts";
import type { Position } from "./cursor.ts";

import type { Access } from "./access.ts";
import type { RoutedMount } from "./route.ts";

/** The part of a list that one mount contributes. */
export interface MountList<E extends Address = Entry> {
  readonly mount: RoutedMount;
  page(request: ListRequest): Promise<Page<E>>;
  /** Present if the source can continue after any entry: then requesting one more entry shows whether there are more. */
  cursorAfter?: ((entry: E) => string) | undefined;
}

type ListPosition = Omit<Position, "page">;

export interface MergedPage<T = Resource> {
  readonly items: T[];
  /** Present if and only if the caller may see more, or if a mount that may have more failed. */
  readonly next?: ListPosition;
  readonly failures: MountFailure[];
}

interface MergeOptions {
  /** Number of entries on the page; fewer only if there are no more. */
  readonly size: number;
  readonly from?: ListPosition;
  /** True if a failing source ends the walk with its error. Otherwise it is named, if the caller may know of it, and the walk continues. */
  readonly strict?: boolean;
  /** True if `show` may take a millisecond for one entry. */
  readonly isSlow?: boolean;
}

/** Number of entries to search at first for a visible one. */
const firstLook = 32;
const longestLook = 1024;
/** Maximum number of entries per request: converting them to resources soon costs less than holding them. */
const maxRequested = 2000;
/** A source with more empty pages in a row than this counts as endless; without order, the page ends early instead. */
const maxEmptyPages = 1000;
const maxCursorLength = 16_384;
/** Walks the lists in order, from a position that an earlier walk returned. */
export function mergeLists(
  access: Access,
  runs: readonly MountList[],
  call: Call,
  options: MergeOptions,
): Promise<MergedPage> {
  return mergeListsAs(access.show, access, runs, call, options);
}

/** The same for items that are not entries; `show` converts an item to what the caller sees, if anything. */
export async function mergeListsAs<E extends Address, T>(
  show: (found: E, mount: RoutedMount, call: Call) => T | undefined,
  access: Access,
  runs: readonly MountList<E>[],
  call: Call,
  options: MergeOptions,
): Promise<MergedPage<T>> {
  const { size, from, strict = false, isSlow = false } = options;
  const items: T[] = [];
  const failures: MountFailure[] = [];
  const start = from ? runs.findIndex((run) => run.mount.name === from.mount) : 0;
  const slice = createTimeSlices();
  const pause = async (): Promise<void> => {
    await slice();
    if (call.signal.aborted) throw cancelled();
  };

  for (let index = start; index < runs.length; index += 1) {
    const run = runs[index] as MountList<E>;
    const { mount } = run;
    if (mount.leftOut !== undefined) {
      if (access.mayEnter(call, mount)) failures.push({ mount: mount.name, message: mount.leftOut });
      continue;
    }
    let cursor = index === start ? from?.cursor : undefined;
    /** Everything up to this address was returned before. */
    let last = index === start ? from?.last : undefined;
    const seen = new Set([cursor]);
    let empty = 0;
    let look = firstLook;
    const { isUnordered = false } = mount.source;
    /** An entry may occur again in a list without order. */
    const shownKeys = isUnordered ? new Set<string>() : undefined;

    for (let first = true; ; first = false) {
      await pause();
      const missing = size - items.length;
      if (missing === 0) look = Math.min(look * 2, longestLook);
      const wanted = run.cursorAfter ? missing + 1 : missing;
      const sameLimit = first && index === start ? (from?.limit ?? 0) : 0;
      const fresh = Math.min(missing === 0 ? look : first ? wanted : Math.max(wanted, longestLook), maxRequested);
      const limit = Math.max(fresh, sameLimit);

      let page: Page<E>;
      try {
        page = await run.page(cursor === undefined ? { limit, versions: false } : { cursor, limit, versions: false });
        empty = page.items.length === 0 ? empty + 1 : 0;
        checkNext(page.next, seen);
        if (!isUnordered && page.next !== undefined && empty > maxEmptyPages)
          throw new ResourceError("unexpected", "the source returned too many empty pages");
      } catch (cause) {
        if (call.signal.aborted) throw cancelled(cause);
        const shown = strict || access.mayEnter(call, mount);
        // A full page does not need this mount; the next page names it if it fails again.
        if (shown && missing === 0) return { items, next: where(mount, cursor, last), failures };
        if (strict) throw cause;
        access.runtime.log("warn", "a mount could not be listed", { mount: mount.name, cause });
        if (shown) failures.push({ mount: mount.name, message: shortMessage(cause) });
        break;
      }
      if (page.failures?.length && access.mayEnter(call, mount) && !failures.some((one) => one.mount === mount.name)) {
        failures.push({ mount: mount.name, message: "part of it could not be listed" });
      }

      const entries = isUnordered ? onceEach(page.items) : page.items;
      let at = 0;
      if (last !== undefined && entries.length > 0) {
        at = indexAfter(entries, last, isUnordered);
        if (at < entries.length || sameAddress(entries[at - 1] as E, last)) last = undefined;
      }
      let given: E | undefined;
      for (; at < entries.length; at += 1) {
        // Rules may take long for many entries.
        if (isSlow || at % 64 === 63) await pause();
        const entry = entries[at] as E;
        const shown = show(entry, mount, call);
        if (shown === undefined || isRepeated(entry, shownKeys)) continue;
        if (items.length === size) {
          const next =
            given && run.cursorAfter ? where(mount, run.cursorAfter(given), undefined) : where(mount, cursor, given);
          return { items, next: isUnordered && given ? { ...next, limit } : next, failures };
        }
        items.push(shown);
        given = entry;
      }

      if (page.next === undefined) break;
      cursor = page.next;
      seen.add(cursor);
      if (isUnordered && empty > maxEmptyPages) return { items, next: where(mount, cursor, undefined), failures };
    }
  }
  return { items, failures };
}

function where({ name }: RoutedMount, cursor: string | undefined, last: Address | undefined): ListPosition {
  return {
    mount: name,
    cursor,
    ...(last && { last: { path: last.path, query: last.query } }),
  };
}

/** A position is found again by an address, which must therefore be on the page once. */
function onceEach<E extends Address>(entries: readonly E[]): readonly E[] {
  const keys = new Set<string>();
  return entries.filter((entry) => !isRepeated(entry, keys));
}

/** Remembers the entry. */
function isRepeated(entry: Address, shownKeys: Set<string> | undefined): boolean {
  if (!shownKeys) return false;
  const key = `${entry.path}?${queryKey(entry)}`;
  if (shownKeys.has(key)) return true;
  shownKeys.add(key);
  return false;
}

function checkNext(next: string | undefined, seen: ReadonlySet<string | undefined>): void {
  if (next === undefined) return;
  if (seen.has(next)) throw new ResourceError("unexpected", "the source returned the same cursor twice");
  if (next.length > maxCursorLength)
    throw new ResourceError("unexpected", "the source returned a cursor that is too long");
}

/**
 * Index of the first entry after this address, whether or not the address itself still exists. Without order, nothing is known to be before
 * an address that is no longer there: entries may be repeated, and none is left out.
 */
function indexAfter(entries: readonly Address[], last: Address, isUnordered: boolean): number {
  // The last one: a source that repeats an entry in spite of its order must not lead back.
  const found = entries.findLastIndex((entry) => sameAddress(entry, last));
  if (found >= 0) return found + 1;
  if (isUnordered) return 0;
  const later = entries.findIndex((entry) => compare(entry, last) > 0);
  return later < 0 ? entries.length : later;
}

function sameAddress(left: Address, right: Address): boolean {
  return left.path === right.path && queryKey(left) === queryKey(right);
}

function compare(left: Address, right: Address): number {
  const order = compareAddresses(left.path, right.path);
  if (order !== 0) return order;
  const [one, other] = [queryKey(left), queryKey(right)];
  return one === other ? 0 : one < other ? -1 : 1;
}

/** Equal for equal queries, in whatever order they are written. */
export function queryKey({ query }: Address): string {
  if (query === undefined) return "";
  const names = Object.keys(query).sort();
  return names.length === 0 ? "" : JSON.stringify(names.map((name) => [name, query[name]]));
}

/** What a caller may know about a mount that failed. */
function shortMessage(cause: unknown): string {
  switch (toResourceError(cause).kind) {
    case "unavailable":
      return "it cannot be reached at present; try again later";
    case "busy":
      return "it is busy; try again later";
    case "denied":
      return "its backend denied the listing";
    default:
      return "it could not be listed; see the server's log for details";
  }
}
