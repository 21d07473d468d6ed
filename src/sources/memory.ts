/** Resources held in memory, for examples, tests and small programs. */
import { invalid, isDirectoryError, notFound, quote } from "../errors.ts";
import { compareAddresses } from "../lib/address-order.ts";
import { mimeOfName } from "../lib/mime.ts";
import type { TemplateMatch } from "../lib/uri-template.ts";
import { directoryType } from "../resources.ts";
import type { Body, Call, Page } from "../resources.ts";
import { defineSource, hasQuery } from "../source.ts";
import { parseAddressTemplate } from "../backends/address-template.ts";
import { createSourceWatches } from "../backends/source-watches.ts";
import { foldForSearch, searchIn } from "./memory/search.ts";
import type { Searchable } from "./memory/search.ts";
import type {
  Address,
  Entry,
  ListRequest,
  Part,
  Source,
  SourceChange,
  SourceHit,
  SourceTemplate,
  Suggestion,
} from "../source.ts";

/** The value at a path: text, bytes, or either with metadata. */
export type MemoryValue = string | Uint8Array | (Body & Omit<Entry, "path" | "query" | "version">);

/** A value that is made anew for each read. Its size and version are not known. */
export interface ComputedValue extends Omit<Entry, "path" | "query" | "version"> {
  read(call: Call): readonly Part[] | Promise<readonly Part[]>;
}

/** Decoded. A variable that the URI omits is absent; the values of an exploded variable are joined by commas. */
export type Variables = Readonly<Record<string, string>>;

export interface MemoryTemplate extends SourceTemplate {
  /** Throws "not-found" (use `notFound`) for a missing resource. */
  read(variables: Variables, call: Call, at: Address): readonly Part[] | Promise<readonly Part[]>;
  /** Best first. */
  complete?(
    variable: string,
    value: string,
    given: Variables,
    call: Call,
  ): readonly (string | Suggestion)[] | Promise<readonly (string | Suggestion)[]>;
}

export interface Memory {
  readonly source: Source;
  /** Creates or replaces the value at the path. Parent directories are created and removed automatically. */
  set(path: string, value: MemoryValue): void;
  /** Returns whether the path existed. */
  delete(path: string): boolean;
  has(path: string): boolean;
  /** Announces that a computed value, or what a template shows at this path, has changed. */
  changed(path: string): void;
  readonly size: number;
}

export interface MemoryOptions {
  readonly templates?: readonly MemoryTemplate[];
}

export function createMemory(
  initial: Readonly<Record<string, MemoryValue | ComputedValue>> = {},
  { templates = [] }: MemoryOptions = {},
): Memory {
  const stored = new Map<string, Searchable>();
  /** Directory → number of values below it. */
  const directories = new Map<string, number>([["", 0]]);
  const watches = createSourceWatches();
  const matchers = templates.map((template) => ({ template, parsed: parseAddressTemplate(template.template) }));
  // Makes versions of different runs differ.
  const birth = crypto.randomUUID().slice(0, 8);
  let versions = 0;

  for (const [path, value] of Object.entries(initial)) put(path, value);
  /** In address order. */
  const paths = [...stored.keys()].sort(compareAddresses);

  function tell(change: SourceChange): void {
    watches.tell([change]);
  }

  /** Stores without announcing a change. */
  function put(path: string, value: MemoryValue | ComputedValue): void {
    if (path === "" || path.split("/").some((segment) => segment === "" || segment === "." || segment === ".."))
      throw invalid(`${quote(path)} is not a valid path: segments may not be empty, "." or ".."`);
    if (directories.has(path)) throw invalid(`${quote(path)} is a directory; remove its contents first`);
    for (const above of ancestorsOf(path))
      if (stored.has(above)) throw invalid(`${quote(above)} is not a directory, so ${quote(path)} cannot be created`);
    const isNew = !stored.has(path);
    versions += 1;
    stored.set(path, toStored(path, value, `${birth}-${versions}`));
    if (isNew) for (const above of ancestorsOf(path)) directories.set(above, (directories.get(above) ?? 0) + 1);
  }

  /** The index of the first path after this one. */
  function after(path: string): number {
    let low = 0;
    let high = paths.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareAddresses(paths[middle] as string, path) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function entryAt(path: string): Entry {
    return stored.get(path)?.entry ?? { path, mimeType: directoryType };
  }

  /** Reads the address through the first template that matches it. */
  async function readTemplate(at: Address, call: Call) {
    for (const { template, parsed } of matchers) {
      const match = parsed.match(at);
      if (!match) continue;
      const parts = await template.read(toVariables(match), call, at);
      if (parts.length > 0) return { template, parts };
      break;
    }
    throw notFound(at.path);
  }

  const source: Source = {
    cursorAfter: ({ path }) => path,

    async list({ cursor, limit }): Promise<Page<Entry>> {
      const start = cursor === undefined ? 0 : after(cursor);
      const end = start + Math.max(1, limit);
      const items = paths.slice(start, end).map(entryAt);
      const last = items.at(-1);
      return last && end < paths.length ? { items, next: last.path } : { items };
    },

    async read(at, call) {
      const found = hasQuery(at) ? undefined : stored.get(at.path);
      if (found) return found.read ? found.read(call) : found.parts;
      if (!hasQuery(at) && directories.has(at.path)) throw isDirectoryError(at.path);
      return (await readTemplate(at, call)).parts;
    },

    async stat(at, call) {
      if (!hasQuery(at) && (stored.has(at.path) || directories.has(at.path))) return entryAt(at.path);
      const { template, parts } = await readTemplate(at, call);
      return { path: at.path, query: at.query, mimeType: parts[0]?.mimeType ?? template.mimeType };
    },

    async children(at, { cursor, limit }: ListRequest): Promise<Page<Entry>> {
      if (hasQuery(at) || !directories.has(at.path)) throw notFound(at.path);
      const inside = at.path === "" ? "" : `${at.path}/`;
      const items: Entry[] = [];
      let index = cursor === undefined ? after(at.path) : endOf(cursor);
      for (;;) {
        const path = paths[index];
        if (path === undefined || !path.startsWith(inside)) return { items };
        const last = items.at(-1);
        if (last && items.length >= limit) return { items, next: last.path };
        const slash = path.indexOf("/", inside.length);
        const child = slash < 0 ? path : path.slice(0, slash);
        items.push(entryAt(child));
        index = slash < 0 ? index + 1 : endOf(child);
      }
    },

    ...(templates.length > 0 && {
      templates: templates.map(withoutMethods),
      // What only a template shows is not listed. Anything else would be, if it existed.
      lists: (at) => !hasQuery(at) && (stored.has(at.path) || !matchers.some(({ parsed }) => parsed.match(at))),
    }),

    ...(templates.some((template) => template.complete) && {
      async complete({ template, variable, value, given }, call) {
        const known = templates.find((other) => other.template === template.template);
        const suggested = (await known?.complete?.(variable, value, given, call)) ?? [];
        return suggested.map((each) => (typeof each === "string" ? { value: each } : each));
      },
    }),

    async search({ text, limit, within = "" }, { signal }): Promise<readonly SourceHit[]> {
      const wanted = foldForSearch(text);
      if (wanted.trim() === "") return [];
      const hits: SourceHit[] = [];
      for (const path of paths) {
        if (within !== "" && path !== within && !path.startsWith(`${within}/`)) continue;
        signal.throwIfAborted();
        const hit = searchIn(stored.get(path) as Searchable, wanted);
        if (hit) hits.push(hit);
      }
      // The sort is stable: equal scores stay in address order.
      return hits.sort((a, b) => b.score - a.score).slice(0, limit);
    },

    async watch({ signal }) {
      return watches.join(signal);
    },

    async close() {
      watches.end();
    },
  };

  // The index computes them once; this search would do so each time.
  if (Object.values(initial).some(isComputed)) delete source.search;

  /** The index of the first path after this one and everything below it. */
  function endOf(path: string): number {
    // Everything below a path follows it directly.
    let low = after(path);
    let high = paths.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((paths[middle] as string).startsWith(`${path}/`)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    source,
    get size() {
      return stored.size;
    },
    has: (path) => stored.has(path),
    changed: (path) => tell({ kind: "changed", path }),

    set(path, value) {
      const isNew = !stored.has(path);
      const added = isNew ? ancestorsOf(path).filter((above) => !directories.has(above)) : [];
      put(path, value);
      if (isNew) paths.splice(after(path), 0, path);
      for (const above of added.toReversed()) tell({ kind: "appeared", path: above });
      tell({ kind: isNew ? "appeared" : "changed", path });
    },

    delete(path) {
      if (!stored.delete(path)) return false;
      paths.splice(after(path) - 1, 1);
      tell({ kind: "gone", path });
      for (const above of ancestorsOf(path)) {
        const left = (directories.get(above) ?? 1) - 1;
        directories.set(above, left);
        if (left > 0 || above === "") continue;
        directories.delete(above);
        tell({ kind: "gone", path: above });
      }
      return true;
    },
  };
}

export default defineSource({
  name: "memory",
  summary: "Resources written into the configuration itself",
  scheme: "memory",
  options: (z) =>
    z.object({
      resources: z
        .record(
          z.string(),
          z.union([
            z.string(),
            z
              .object({
                text: z.string().optional().describe("Content as text"),
                base64: z.base64().optional().describe("Content as bytes in base64"),
                name: z.string().optional(),
                title: z.string().optional(),
                description: z.string().optional(),
                mimeType: z.string().optional(),
                annotations: z
                  .object({
                    audience: z.array(z.enum(["user", "assistant"])).optional(),
                    priority: z.number().min(0).max(1).optional(),
                    lastModified: z.string().optional(),
                  })
                  .optional(),
              })
              .refine(({ text, base64 }) => (text === undefined) !== (base64 === undefined), {
                message: "give either text or base64",
              }),
          ]),
        )
        .describe("Resources by path: path → text, or { text | base64, mimeType, title, … }"),
    }),

  async open({ resources }) {
    const initial: Record<string, MemoryValue> = {};
    for (const [path, value] of Object.entries(resources)) {
      if (typeof value === "string") {
        initial[path] = value;
        continue;
      }
      const { text, base64, ...metadata } = value;
      const body = base64 === undefined ? { text: text ?? "" } : { bytes: Buffer.from(base64, "base64") };
      initial[path] = { ...body, ...withoutUndefined(metadata) } as MemoryValue;
    }
    return createMemory(initial).source;
  },
});

function withoutUndefined(metadata: object): object {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined));
}

function isComputed(value: MemoryValue | ComputedValue): value is ComputedValue {
  return typeof value === "object" && "read" in value;
}

function toStored(path: string, value: MemoryValue | ComputedValue, version: string): Searchable {
  if (typeof value === "string") return toStored(path, { text: value }, version);
  if (value instanceof Uint8Array) return toStored(path, { bytes: value }, version);
  if (isComputed(value)) {
    const { read, ...entry } = value;
    return { entry: { mimeType: mimeOfName(path) ?? "text/plain", ...entry, path }, parts: [], read };
  }
  const isText = "text" in value;
  const mimeType = value.mimeType ?? mimeOfName(path) ?? (isText ? "text/plain" : "application/octet-stream");
  const size = isText ? Buffer.byteLength(value.text) : value.bytes.byteLength;
  const body: Body = isText ? { text: value.text } : { bytes: value.bytes };
  const { name, title, description, annotations, icons, meta } = value;
  const entry: Entry = {
    path,
    name,
    title,
    description,
    mimeType,
    size: value.size ?? size,
    annotations,
    icons,
    meta,
    version,
  };
  return { entry, parts: [{ body, mimeType }] };
}

/** The template without its functions. */
function withoutMethods({ read: _read, complete: _complete, ...template }: MemoryTemplate): SourceTemplate {
  return template;
}

/** From the nearest directory to the mount itself. */
function ancestorsOf(path: string): string[] {
  const above: string[] = [];
  for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1))
    above.push(path.slice(0, slash));
  above.push("");
  return above;
}

function toVariables(match: TemplateMatch): Variables {
  return Object.fromEntries(
    Array.from(match, ([name, value]) => [name, typeof value === "string" ? value : value.join(",")]),
  );
}
