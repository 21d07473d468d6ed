/** What is remembered of requested pages. It may be kept in a file, so that after a start they are requested only conditionally. */
import { mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { Lru } from "../../lib/lru.ts";
import { writeFileAtomically } from "../../lib/write-file-atomically.ts";
import type { Address } from "../../source.ts";
import { keyOf, targetOf } from "./page-address.ts";

export interface KnownPage {
  readonly at: Address;
  /** The final URL: its validators are valid only there. Empty if the page did not exist. */
  readonly href: string;
  /** The headers of a conditional request. */
  readonly validators: Readonly<Record<string, string>>;
  readonly title: string | undefined;
  /** Undefined if the page did not exist. */
  readonly digest: string | undefined;
  /** When it was requested, by the wall clock: it is compared by the next process. */
  readonly checkedMs: number;
  /** Version of its entry when it was requested. */
  readonly version: string | undefined;
}

export interface KnownPages extends Map<string, KnownPage> {
  /** Writes the pages for which this is true to the file, if there is one and something has changed. Never throws. */
  save(isKept: (key: string) => boolean): void;
}

const maxFileBytes = 64 * 1024 * 1024;

export function openKnownPages(maxEntries: number, file?: string): KnownPages {
  const pages = new Lru<string, KnownPage>({ maxEntries });
  if (file !== undefined) for (const page of readPages(file)) pages.set(keyOf(page.at), page);
  let written = textOf([...pages.values()]);
  return Object.assign(pages, {
    save(isKept: (key: string) => boolean) {
      if (file === undefined) return;
      const text = textOf([...pages].flatMap(([key, page]) => (isKept(key) ? [page] : [])));
      if (text === written) return;
      try {
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        writeFileAtomically(file, text, { isLasting: false });
        written = text;
      } catch {
        // It is only a cache: the pages are requested again.
      }
    },
  });
}

function textOf(pages: readonly KnownPage[]): string {
  return JSON.stringify({ pages });
}

/** Anything unexpected in the file is ignored. */
function readPages(file: string): readonly KnownPage[] {
  try {
    const text = readFileSync(file, "utf8");
    const { pages } = JSON.parse(text.length > maxFileBytes ? "{}" : text) as { readonly pages?: unknown };
    return Array.isArray(pages) ? pages.filter(isKnownPage) : [];
  } catch {
    return [];
  }
}

function isKnownPage(value: unknown): value is KnownPage {
  const { at, href, validators, title, digest, checkedMs, version } = Object(value) as Record<string, unknown>;
  const { path, query = {} } = Object(at) as Record<string, unknown>;
  return (
    typeof path === "string" &&
    typeof href === "string" &&
    (href === "" || targetOf(href) !== undefined) &&
    typeof checkedMs === "number" &&
    isTexts(validators) &&
    isTexts(query) &&
    isTexts({ title: title ?? "", digest: digest ?? "", version: version ?? "" })
  );
}

function isTexts(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.values(value).every((each) => typeof each === "string");
}
