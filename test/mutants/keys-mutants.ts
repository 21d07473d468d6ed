/** Faults of a list without an order, and of resources with children. */
import { isDirectoryError, notFound } from "../../src/errors.ts";
import { directoryType } from "../../src/resources.ts";
import type { Page } from "../../src/resources.ts";
import type { Entry, Source } from "../../src/source.ts";
import { byPosition, onPages } from "./mutant.ts";
import { onChanges } from "./watch-mutants.ts";
import type { Mutant } from "./mutant.ts";

function plain({ hasChildren: _hasChildren, ...entry }: Entry): Entry {
  return entry;
}

function onChildren(source: Source, change: (entry: Entry) => readonly Entry[]): Partial<Source> {
  return {
    async children(at, request, call) {
      const page: Page<Entry> = await source.children!(at, request, call);
      return { ...page, items: page.items.flatMap(change) };
    },
  };
}

export const keysMutants: readonly Mutant[] = [
  {
    name: "drops an entry of a page",
    group: "list",
    wrap: (source) => onPages(source, (page) => ({ ...page, items: page.items.slice(1) })),
  },
  {
    name: "hides entries when others are removed",
    group: "list",
    says: /after entries of the first page were removed: .* is missing/,
    wrap: (source) => ({
      list: byPosition(async (call) => {
        const found: Entry[] = [];
        let cursor: string | undefined;
        do {
          const page: Page<Entry> = await source.list({ limit: 1000, ...(cursor !== undefined && { cursor }) }, call);
          found.push(...page.items);
          cursor = page.next;
        } while (cursor !== undefined);
        return found;
      }),
    }),
  },
  {
    name: "returns empty pages for ever",
    group: "list",
    says: /does not end: \d+ pages in a row are empty/,
    wrap(source) {
      let count = 0;
      return {
        async list(request, call) {
          if (request.cursor?.endsWith("-")) return { items: [], next: `${(count += 1)}-` };
          const page = await source.list(request, call);
          return page.next === undefined ? { ...page, next: "-" } : page;
        },
      };
    },
  },
  {
    name: "goes in a circle",
    group: "list",
    says: /does not end: page \d+ returned the cursor '?"[^"]*"'? again/,
    wrap: (source) => onPages(source, (page, { cursor }) => (cursor === undefined ? page : { ...page, next: cursor })),
  },
  {
    name: "names entries twice on a page",
    group: "list",
    says: /a page of the list \(limit 1\): .* occurs twice/,
    wrap: (source) => onPages(source, (page) => ({ ...page, items: [...page.items, ...page.items] })),
  },
  {
    name: "names children twice on a page",
    group: "children",
    says: /a page of children of .* occurs twice/,
    wrap: (source) => onChildren(source, (entry) => [entry, entry]),
  },
  {
    name: "marks directories as resources that have children",
    group: "children",
    says: /is a directory: its entry must have neither `hasChildren` nor `size`/,
    wrap: (source) =>
      onChildren(source, (entry) => [
        entry.mimeType === directoryType ? { ...entry, hasChildren: true, size: 5 } : entry,
      ]),
  },
  {
    name: "marks directories as resources that have children in stat",
    group: "stat",
    wrap: (source) => ({
      async stat(at, call) {
        const entry = await source.stat!(at, call);
        return entry.mimeType === directoryType ? { ...entry, hasChildren: true } : entry;
      },
    }),
  },
  {
    name: "reports a key as gone with everything below it though that stays",
    group: "watch",
    says: /reported `gone user\/1` without `eachBelow`, but '[^']+' still exists/,
    wrap: (source) =>
      onChanges(source, (change) => (change.kind === "gone" ? [{ kind: "gone", path: change.path }] : [change])),
  },
  {
    name: "does not say that directories exist only through keys",
    group: "watch",
    says: /waited .* s for the change `appeared new-directory`/,
    wrap: () => ({ impliesDirectories: undefined as never }),
  },
  {
    name: "claims an order besides",
    group: "has the abilities",
    wrap: () => ({ order: (left, right) => (left < right ? -1 : 1) }),
  },
  {
    name: "does not mark a resource that has children",
    group: "children",
    says: /'user\/1' is listed and something below it too: its entry must have `hasChildren: true`/,
    wrap: (source) => ({
      ...onPages(source, (page) => ({ ...page, items: page.items.map(plain) })),
      ...onChildren(source, (entry) => (entry.hasChildren ? [plain(entry)] : [entry])),
    }),
  },
  {
    name: "does not mark it among the children of its directory",
    group: "children",
    wrap: (source) => onChildren(source, (entry) => [plain(entry)]),
  },
  {
    name: "does not mark it in stat",
    group: "stat",
    wrap: (source) => ({ stat: async (at, call) => plain(await source.stat!(at, call)) }),
  },
  {
    name: "shows a resource that has children as a directory",
    group: "children",
    wrap: (source) =>
      onChildren(source, (entry) => [entry.hasChildren ? { path: entry.path, mimeType: directoryType } : entry]),
  },
  {
    name: "marks a resource that has no children",
    group: "children",
    wrap: (source) =>
      onPages(source, (page) => ({
        ...page,
        items: page.items.map((entry) => ({ ...entry, hasChildren: true as const })),
      })),
  },
  {
    name: "lists no children of a resource",
    group: "children",
    wrap: (source) => ({
      async children(at, request, call) {
        if ((await source.stat!(at, call)).hasChildren) throw notFound(at.path);
        return source.children!(at, request, call);
      },
    }),
  },
  {
    name: "reads a resource that has children as a directory",
    group: "read",
    wrap: (source) => ({
      async read(at, call) {
        const entry = await source.stat!(at, call);
        if (entry.hasChildren) throw isDirectoryError(at.path);
        return source.read(at, call);
      },
    }),
  },
];
