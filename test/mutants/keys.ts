/** A store of keys as Redis is one: it lists in no order, repeats entries, and a key may be above others. */
import { isDirectoryError, notFound } from "../../src/errors.ts";
import { directoryType } from "../../src/resources.ts";
import type { Page } from "../../src/resources.ts";
import type { Address, Entry, ListRequest, Source } from "../../src/source.ts";
import type { KnownContent } from "../../src/testing/index.ts";

const slots = 16;

export function openKeys(content: KnownContent): { readonly source: Source; readonly values: Map<string, string> } {
  const values = new Map(Object.entries(content).map(([path, text]) => [path, text ?? ""]));
  const isAbove = (path: string) => [...values.keys()].some((key) => path === "" || key.startsWith(`${path}/`));

  function entryAt(path: string): Entry {
    const text = values.get(path);
    if (text === undefined) return { path, mimeType: directoryType };
    return { path, size: Buffer.byteLength(text), ...(isAbove(path) && { hasChildren: true }) };
  }

  /** One page for each slot, as SCAN visits them; most are empty. The last also repeats an entry. */
  function page(paths: readonly string[], { cursor = "0" }: ListRequest): Page<Entry> {
    const slot = Number(cursor);
    const items = paths.filter((path) => slotOf(path) === slot).map(entryAt);
    if (slot + 1 < slots) return { items, next: String(slot + 1) };
    return { items: [...items, ...paths.slice(0, 1).map(entryAt)] };
  }

  const source: Source = {
    isUnordered: true,
    list: async (request) => page([...values.keys()], request),
    async read(at) {
      const text = isWithQuery(at) ? undefined : values.get(at.path);
      if (text !== undefined) return [{ body: { text } }];
      throw isAbove(at.path) && !isWithQuery(at) ? isDirectoryError(at.path) : notFound(at.path);
    },
    async stat(at) {
      if (isWithQuery(at) || (!values.has(at.path) && !isAbove(at.path))) throw notFound(at.path);
      return entryAt(at.path);
    },
    async children(at, request) {
      if (isWithQuery(at) || !isAbove(at.path)) throw notFound(at.path);
      const inside = at.path === "" ? "" : `${at.path}/`;
      const below = [...values.keys()].filter((key) => key.startsWith(inside)).map((key) => key.slice(inside.length));
      return page([...new Set(below.map((key) => inside + key.replace(/\/.*/s, "")))], request);
    },
  };
  return { source, values };
}

function isWithQuery({ query }: Address): boolean {
  return Object.keys(query ?? {}).length > 0;
}

function slotOf(path: string): number {
  let sum = 0;
  for (const character of path) sum = (sum * 31 + character.charCodeAt(0)) % 997;
  return sum % slots;
}
