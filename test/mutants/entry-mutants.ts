/** Faults of `read`, `stat` and `children`. */
import { isDirectoryError, notFound, ResourceError } from "../../src/errors.ts";
import type { Page } from "../../src/resources.ts";
import { directoryType } from "../../src/resources.ts";
import type { Address, Entry, Part, Source } from "../../src/source.ts";
import { everyEntry, remembering, withoutQuery } from "./mutant.ts";
import { textOf } from "../../src/testing/source-contract/contract-context.ts";
import type { Mutant } from "./mutant.ts";

/** Reads, and answers a missing address by `instead`. */
function missing(source: Source, instead: (path: string) => readonly Part[]): Partial<Source> {
  return {
    read: (at, call) =>
      source.read(at, call).catch((cause: unknown) => {
        if (cause instanceof ResourceError && cause.kind === "not-found") return instead(at.path);
        throw cause;
      }),
  };
}

function onText(source: Source, change: (text: string) => string): Partial<Source> {
  return {
    async read(at, call) {
      const parts = await source.read(at, call);
      return parts.map((part) => ({ ...part, body: { text: change(textOf([part])) } }));
    },
  };
}

/** Mutants that take a wrong path for a right one, in each operation. */
function misreading(name: string, correct: (path: string) => string): Mutant[] {
  const groups = ["read", "stat", "children"] as const;
  return groups.map((group) => ({
    name: `${name} in ${group}`,
    group,
    wrap: (source) =>
      group === "children"
        ? { children: (at, request, call) => source.children!({ ...at, path: correct(at.path) }, request, call) }
        : group === "stat"
          ? { stat: (at, call) => source.stat!({ ...at, path: correct(at.path) }, call) }
          : { read: (at, call) => source.read({ ...at, path: correct(at.path) }, call) },
  }));
}

/** Mutants that take no variables for unknown ones. */
const emptyQueryMutants = (["read", "stat", "children"] as const).map((group): Mutant => {
  return {
    name: `finds nothing with an empty query in ${group}`,
    group,
    wrap: (source) => ({
      [group]: async (at: Address, ...rest: unknown[]) => {
        if (at.query && Object.keys(at.query).length === 0) throw notFound(at.path);
        return (source[group] as (...args: unknown[]) => unknown)(at, ...rest);
      },
    }),
  };
});

const pathMutants: readonly Mutant[] = [
  ...misreading("drops a slash at the beginning", (path) => path.replace(/^\//, "")),
  ...misreading("drops a slash at the end", (path) => path.replace(/\/$/, "")),
  ...misreading("takes two slashes for one", (path) => path.replaceAll("//", "/")),
  ...misreading("ignores case", (path) => (/[A-Z]/.test(path) ? path.toLowerCase() : path)),
  ...emptyQueryMutants,
];

const readMutants: readonly Mutant[] = [
  { name: "reads nothing from a missing address", group: "read", wrap: (source) => missing(source, () => []) },
  {
    name: "reads an empty text from a missing address",
    group: "read",
    wrap: (source) => missing(source, () => [{ body: { text: "" } }]),
  },
  {
    name: "calls a missing address unavailable",
    group: "read",
    says: /must fail with not-found; it failed with unavailable/,
    wrap: (source) =>
      missing(source, (path) => {
        throw new ResourceError("unavailable", path);
      }),
  },
  {
    name: "throws a plain error for a missing address",
    group: "read",
    wrap: (source) =>
      missing(source, (path) => {
        throw new Error(`ENOENT ${path}`);
      }),
  },
  { name: "trims texts", group: "read", wrap: (source) => onText(source, (text) => text.trimEnd()) },
  {
    name: "changes the ends of lines",
    group: "read",
    wrap: (source) => onText(source, (text) => text.replaceAll("\r\n", "\n")),
  },
  {
    name: "composes names",
    group: "read",
    wrap: (source) => ({ read: (at, call) => source.read({ ...at, path: at.path.normalize("NFC") }, call) }),
  },
  {
    name: "decodes names",
    group: "read",
    wrap: (source) => ({
      read: (at, call) => source.read({ ...at, path: at.path.replaceAll("%41", "A") }, call),
    }),
  },
  {
    name: "finds a file by the beginning of a longer name",
    group: "read",
    wrap: (source) => ({
      read: (at, call) => source.read({ ...at, path: at.path.replace(/^readme\.md.+/, "readme.md") }, call),
    }),
  },
  {
    name: "reads with any query",
    group: "read",
    says: /read 'readme.md' with an unknown query must fail with not-found; it returned/,
    wrap: (source) => ({ read: (at, call) => source.read(withoutQuery(at), call) }),
  },
  {
    name: "calls a directory missing",
    group: "read",
    wrap: (source) => ({
      read: (at, call) =>
        source.read(at, call).catch((cause: unknown) => {
          throw cause instanceof ResourceError && cause.kind === "directory" ? notFound(at.path) : cause;
        }),
    }),
  },
  {
    name: "calls everything missing a directory",
    group: "read",
    wrap: (source) =>
      missing(source, (path) => {
        throw isDirectoryError(path);
      }),
  },
  {
    name: "hangs if the signal is already aborted",
    group: "read",
    says: /waited .* s for read\(\{ path: 'readme.md' \}\) to return or to throw/,
    wrap: (source) => ({
      read: (at, call) => (call.signal.aborted ? new Promise(() => undefined) : source.read(at, call)),
    }),
  },
  {
    name: "reads a property of every object",
    group: "read",
    says: /read 'constructor' must fail with not-found/,
    wrap: (source) => ({
      read: async (at, call) => (at.path in {} ? [{ body: { text: "function" } }] : source.read(at, call)),
    }),
  },
  {
    name: "reads as before a write",
    group: "writes",
    wrap: (source) => ({ read: remembering(source.read.bind(source)) }),
  },
];

const statMutants: readonly Mutant[] = [
  {
    name: "describes another entry than the list",
    group: "stat",
    says: /stat 'docs[^']+', compared with its entry in the list: expected/,
    wrap: (source) => ({ stat: async (at, call) => ({ ...(await source.stat!(at, call)), title: "other" }) }),
  },
  {
    name: "knows no directories",
    group: "stat",
    wrap: (source) => ({
      async stat(at, call) {
        const entry = await source.stat!(at, call);
        if (entry.mimeType === directoryType) throw notFound(at.path);
        return entry;
      },
    }),
  },
  {
    name: "describes what is missing",
    group: "stat",
    wrap: (source) => ({ stat: (at, call) => source.stat!(at, call).catch(() => ({ path: at.path })) }),
  },
  {
    name: "describes with any query",
    group: "stat",
    wrap: (source) => ({ stat: (at, call) => source.stat!(withoutQuery(at), call) }),
  },
  {
    name: "keeps the version after a change",
    group: "stat",
    says: /the version of 'readme.md' is '1' again after/,
    wrap: (source) => ({ stat: async (at, call) => ({ ...(await source.stat!(at, call)), version: "1" }) }),
  },
  {
    name: "uses the size as the version",
    group: "stat",
    wrap: (source) => ({
      async stat(at, call) {
        const entry = await source.stat!(at, call);
        return { ...entry, version: `${entry.size}` };
      },
    }),
  },
  {
    name: "gives a new version each time",
    group: "stat",
    wrap(source) {
      let count = 0;
      return { stat: async (at, call) => ({ ...(await source.stat!(at, call)), version: `${(count += 1)}` }) };
    },
  },
  {
    name: "describes as before a removal",
    group: "writes",
    wrap: (source) => ({ stat: remembering(source.stat!.bind(source)) }),
  },
];

/** Changes each page of `children`. */
function onChildren(source: Source, change: (page: Page<Entry>) => Page<Entry>): Partial<Source> {
  return { children: async (at, request, call) => change(await source.children!(at, request, call)) };
}

const childrenMutants: readonly Mutant[] = [
  {
    name: "counts children wrongly",
    group: "children",
    says: /the number of children in the entry of '[^']+'/,
    wrap: (source) =>
      onChildren(source, ({ items, ...page }) => ({
        ...page,
        items: items.map((entry) => (entry.mimeType === directoryType ? { ...entry, children: 99 } : entry)),
      })),
  },
  {
    name: "lists grandchildren",
    group: "children",
    says: /children of '' \(limit 1\) contain 'docs[^']*\/[^']+', which is not a direct child/,
    wrap: (source) => ({
      async children(at, request, call) {
        await source.children!(at, request, call);
        const below = await everyEntry(source, call);
        return { items: below.filter(({ path }) => at.path === "" || path.startsWith(`${at.path}/`)) };
      },
    }),
  },
  {
    name: "leaves out directories",
    group: "children",
    wrap: (source) =>
      onChildren(source, ({ items, ...page }) => ({
        ...page,
        items: items.filter(({ mimeType }) => mimeType !== directoryType),
      })),
  },
  {
    name: "does not mark directories",
    group: "children",
    says: /'docs[^']*': expected 'a directory', got 'a resource'/,
    wrap: (source) =>
      onChildren(source, ({ items, ...page }) => ({
        ...page,
        items: items.map((entry) => ({ ...entry, mimeType: "text/plain" })),
      })),
  },
  {
    name: "ends after the first page of children",
    group: "children",
    wrap: (source) => onChildren(source, ({ items }) => ({ items })),
  },
  {
    name: "reverses pages of children",
    group: "children",
    wrap: (source) => onChildren(source, ({ items, ...page }) => ({ ...page, items: items.toReversed() })),
  },
  {
    name: "has no children where nothing is",
    group: "children",
    wrap: (source) => ({
      children: (at, request, call) => source.children!(at, request, call).catch(() => ({ items: [] })),
    }),
  },
  {
    name: "lists children with any query",
    group: "children",
    wrap: (source) => ({ children: (at, request, call) => source.children!(withoutQuery(at), request, call) }),
  },
  {
    name: "lists children as before a write",
    group: "writes",
    says: /children of '' after a write: 'just-written.txt' is missing/,
    wrap: (source) => ({ children: remembering(source.children!.bind(source)) }),
  },
];

export const entryMutants: readonly Mutant[] = [...pathMutants, ...readMutants, ...statMutants, ...childrenMutants];
