/** The list entry of a document. */
import { directoryType } from "../../resources.ts";
import type { Address, Entry } from "../../source.ts";
import type { Placed } from "./arrange.ts";
import { baseLanguageOf } from "./language.ts";
import { twinStep } from "./rules.ts";

export interface EntryOptions {
  /** The preferred language. */
  readonly prefer?: string;
  /** The commit time of a file. */
  timeOf(file: string): string | undefined;
  /** The address of the file that a link points to. */
  addressOf(file: string): string | undefined;
}

export type Describe = (placed: Placed) => Entry;

export function createDescribe({ prefer, timeOf, addressOf }: EntryOptions): Describe {
  const isPreferred = (lang: string) => lang === prefer || baseLanguageOf(lang) === prefer;

  return ({ document, address, twins, isPartial }) => {
    const { entry, file, lang, said, verdict, title, description } = document;
    const isLowered =
      prefer !== undefined && said.priority === undefined && !isPreferred(lang) && [...twins.keys()].some(isPreferred);
    const overridden = (["priority", "audience"] as const).filter((each) => said[each] !== undefined);
    const lastModified = timeOf(file) ?? entry.annotations?.lastModified;
    const reveals = revealed(entry.reveals, addressOf);
    return {
      path: address,
      name: address.slice(address.lastIndexOf("/") + 1),
      title,
      description,
      mimeType: entry.mimeType,
      size: entry.size,
      annotations: {
        audience: said.audience ?? verdict.audience,
        priority: said.priority ?? (isLowered ? lower(verdict.priority) : verdict.priority),
        lastModified,
      },
      meta: {
        ...entry.meta,
        "pressmark/docs": {
          lang,
          file,
          rule: verdict.rule,
          ...(overridden.length > 0 && { overridden }),
          ...(isLowered && { lowered: twinStep }),
          ...(twins.size > 0 && {
            twins: Object.fromEntries([...twins].sort(([left], [right]) => (left < right ? -1 : 1))),
          }),
        },
      },
      // A version promises the same content to everyone.
      version: isPartial ? undefined : entry.version,
      reveals,
    };
  };
}

/** Rounded: 0.1 + 0.2 must print as 0.3. */
function lower(priority: number): number {
  return Math.max(0, Math.round((priority - twinStep) * 100) / 100);
}

export function revealed(
  real: Address | undefined,
  addressOf: EntryOptions["addressOf"],
): { readonly path: string } | undefined {
  const path = real && addressOf(real.path);
  return path === undefined ? undefined : { path };
}

export function directoryEntry(path: string, names: readonly string[]): Entry {
  const title = path === "" || path.includes("/") ? undefined : languageTitle(path);
  const name = path.slice(path.lastIndexOf("/") + 1);
  return {
    path,
    ...(path !== "" && { name }),
    title,
    mimeType: directoryType,
    children: names.length,
  };
}

/** The name of a language in that language. */
function languageTitle(lang: string): string | undefined {
  try {
    return new Intl.DisplayNames([lang], { type: "language" }).of(lang);
  } catch {
    return undefined;
  }
}
