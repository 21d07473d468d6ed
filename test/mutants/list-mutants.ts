/** Faults of lists. */
import type { Entry } from "../../src/source.ts";
import { directoryType } from "../../src/resources.ts";
import { byPosition, everyEntry, onPages, remembering } from "./mutant.ts";
import type { Mutant } from "./mutant.ts";

export const listMutants: readonly Mutant[] = [
  {
    name: "drops the last entry of a page that is not the last",
    group: "list",
    says: /the list, limit 7: 'names\/%41.txt', .* is missing/,
    wrap: (source) =>
      onPages(source, (page) => (page.next === undefined ? page : { ...page, items: page.items.slice(0, -1) })),
  },
  {
    name: "drops the last entry of the list",
    group: "list",
    wrap: (source) => onPages(source, (page) => (page.next === undefined ? { items: page.items.slice(0, -1) } : page)),
  },
  {
    name: "repeats the last entry of a page on the next",
    group: "list",
    says: /the list, limit 1,: 'docs[^']+' occurs twice/,
    wrap(source) {
      let last: Entry | undefined;
      return onPages(source, ({ items, ...page }, { cursor }) => {
        const repeated = cursor === undefined || !last ? items : [last, ...items];
        last = items.at(-1);
        return { ...page, items: repeated };
      });
    },
  },
  {
    name: "lists an entry twice on one page",
    group: "list",
    wrap: (source) => onPages(source, ({ items, ...page }) => ({ ...page, items: [...items.slice(0, 1), ...items] })),
  },
  {
    name: "reverses its pages",
    group: "list",
    says: /the list, limit 2, is not in (?:address order|the source's own `order`): '[^']+' before '[^']+'/,
    wrap: (source) => onPages(source, ({ items, ...page }) => ({ ...page, items: items.toReversed() })),
  },
  {
    name: "lists in the order of characters, in which docs-old comes before docs/",
    group: "list",
    says: /is not in (?:address order|the source's own `order`): '[^']+' before '[^']+'/,
    wrap(source) {
      const list = byPosition(async (call) => {
        const entries = await everyEntry(source, call);
        return entries.sort((left, right) => (left.path < right.path ? -1 : 1));
      });
      return { list, cursorAfter: undefined as never };
    },
  },
  {
    name: "skips an entry after each cursor",
    group: "list",
    wrap: (source) =>
      onPages(source, ({ items, ...page }, { cursor }) => ({
        ...page,
        items: items.slice(cursor === undefined ? 0 : 1),
      })),
  },
  {
    name: "ignores the cursor",
    group: "list",
    says: /does not end: page 2 returned the cursor .* again/,
    wrap: (source) => ({ list: ({ limit }, call) => source.list({ limit }, call) }),
  },
  {
    name: "ends after a page of one entry",
    group: "list",
    wrap: (source) => onPages(source, (page, { limit }) => (limit === 1 ? { items: page.items } : page)),
  },
  {
    name: "returns a third of the entries for a large limit, without a cursor",
    group: "list",
    wrap: (source) =>
      onPages(source, (page, { limit }) =>
        limit < 100 ? page : { items: page.items.slice(0, page.items.length / 3) },
      ),
  },
  {
    name: "counts positions instead of remembering where it was",
    group: "list",
    says: /after entries of the first page were removed: .* is missing/,
    wrap: (source) => ({ list: byPosition((call) => everyEntry(source, call)), cursorAfter: undefined as never }),
  },
  {
    name: "accepts a cursor once",
    group: "list",
    wrap(source) {
      const used = new Set<string>();
      return onPages(source, (page, { cursor }) => {
        if (cursor === undefined || !used.has(cursor)) return (used.add(cursor ?? ""), page);
        return { items: [] };
      });
    },
  },
  {
    name: "lists directories",
    group: "list",
    wrap: (source) =>
      onPages(source, (page, { cursor }) =>
        cursor === undefined ? { ...page, items: [{ path: "docs", mimeType: directoryType }, ...page.items] } : page,
      ),
  },
  {
    name: "lists what cannot be read",
    group: "list",
    wrap: (source) =>
      onPages(source, (page) => (page.next === undefined ? { items: [...page.items, { path: "zzz" }] } : page)),
  },
  {
    name: "lists other entries if no versions are needed",
    group: "list",
    wrap: (source) =>
      onPages(source, (page, { versions }) => (versions === false ? { items: page.items.slice(1) } : page)),
  },
  {
    name: "denies with `lists` what it lists",
    group: "list",
    wrap: () => ({ lists: ({ path }) => path !== "docs.txt" }),
  },
  {
    name: "gives the cursor of the entry before",
    group: "list",
    wrap(source) {
      let before: Entry | undefined;
      return {
        cursorAfter(entry) {
          const cursor = source.cursorAfter?.(before ?? entry) ?? entry.path;
          before = entry;
          return cursor;
        },
      };
    },
  },
  {
    name: "lists as before a write",
    group: "writes",
    says: /the list after a write: 'just-written.txt' is missing/,
    wrap: (source) => ({ list: remembering(source.list.bind(source)) }),
  },
  {
    name: "states a wrong size",
    group: "read",
    wrap: (source) =>
      onPages(source, ({ items, ...page }) => ({ ...page, items: items.map((entry) => ({ ...entry, size: 3 })) })),
  },
];
