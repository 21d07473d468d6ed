/** Assigns a unique address to each file, and groups the translations of one document. */
import { compareAddresses } from "../../lib/address-order.ts";
import type { DocumentHead } from "./head.ts";
import { baseLanguageOf } from "./language.ts";

export interface Placed {
  readonly document: DocumentHead;
  /** `{lang}/{path}`, without language marks if possible. */
  readonly address: string;
  /** Language → address of the same document in other languages. */
  readonly twins: ReadonlyMap<string, string>;
  /** True if twins are left out that the caller may not see. */
  readonly isPartial?: boolean;
}

export interface Arrangement {
  /** In address order. */
  readonly placed: readonly Placed[];
  readonly byAddress: ReadonlyMap<string, Placed>;
  readonly byFile: ReadonlyMap<string, Placed>;
  /** Directory → its names, in order. The mount itself is "". */
  readonly directories: ReadonlyMap<string, readonly string[]>;
}

export function arrange(heads: readonly DocumentHead[]): Arrangement {
  const documents = settleLanguages(heads);
  const addresses = placeAll(documents);
  const twins = pair(documents);
  const placed = documents.map((document): Placed => {
    const others = new Map<string, string>();
    for (const other of twins.get(document) ?? [])
      if (other !== document) others.set(other.lang, addresses.get(other) as string);
    return { document, address: addresses.get(document) as string, twins: others };
  });
  placed.sort((left, right) => compareAddresses(left.address, right.address));
  return arrangementOf(placed);
}

/** A few Han characters alone are Japanese where other documents are Japanese and none is surely Chinese. */
function settleLanguages(heads: readonly DocumentHead[]): readonly DocumentHead[] {
  const sure = new Set(heads.flatMap(({ lang, mayBeJapanese }) => (mayBeJapanese ? [] : baseLanguageOf(lang))));
  if (!sure.has("ja") || sure.has("zh")) return heads;
  return heads.map((head) => (head.mayBeJapanese ? { ...head, lang: "ja" } : head));
}

/** `placed` is in address order. */
export function arrangementOf(placed: readonly Placed[]): Arrangement {
  return {
    placed,
    byAddress: new Map(placed.map((each) => [each.address, each])),
    byFile: new Map(placed.map((each) => [each.document.file, each])),
    directories: directoriesOf(placed),
  };
}

/**
 * Each file gets its path without language marks as its address, unless another file has that path as its own, or an earlier one has taken
 * it; then its full path is its address. Full paths cannot collide: an address without marks never contains one, and the full path of such
 * a file always does.
 */
function placeAll(documents: readonly DocumentHead[]): Map<DocumentHead, string> {
  const addresses = new Map<DocumentHead, string>();
  const taken = new Map<string, DocumentHead>();
  const wishes = documents.map((document) => ({
    document,
    address: `${document.lang}/${document.bare}`,
  }));
  const isMarked = ({ document, address }: (typeof wishes)[number]) => address !== whole(document);
  // Files with their full path come first.
  wishes.sort((left, right) => Number(isMarked(left)) - Number(isMarked(right)));
  for (const { document, address } of wishes) put(document, taken.has(address) ? whole(document) : address);
  while (separate());
  return addresses;

  function put(document: DocumentHead, address: string): void {
    addresses.set(document, address);
    taken.set(address, document);
  }

  /**
   * No address may be both a document and a directory. Returns whether any address had to change; full paths never collide, so this
   * terminates.
   */
  function separate(): boolean {
    let isMoved = false;
    for (const [address, document] of taken)
      for (let slash = address.lastIndexOf("/"); slash > 0; slash = address.lastIndexOf("/", slash - 1)) {
        const path = address.slice(0, slash);
        const above = taken.get(path);
        if (!above) continue;
        const moved = path === whole(above) ? document : above;
        taken.delete(moved === above ? path : address);
        put(moved, whole(moved));
        isMoved = true;
        break;
      }
    return isMoved;
  }
}

function whole({ lang, file }: DocumentHead): string {
  return `${lang}/${file}`;
}

/** Limit of languages for one document. */
const maxTwins = 64;

/** Groups translations: by their path without marks, and by language bars. Never two of one language. */
function pair(documents: readonly DocumentHead[]): ReadonlyMap<DocumentHead, readonly DocumentHead[]> {
  const groups = new Map<DocumentHead, DocumentHead[]>();
  const byPath = new Map<string, DocumentHead>();
  const byFile = new Map(documents.map((each) => [each.file, each]));
  for (const document of documents) {
    groups.set(document, [document]);
    const other = byPath.get(document.bare);
    if (other) join(document, other);
    else byPath.set(document.bare, document);
  }
  for (const document of documents) {
    const other = groups.get(document)?.length === 1 ? byPath.get(pathAtTop(document)) : undefined;
    if (other) join(document, other);
  }
  for (const document of documents)
    for (const file of document.bar) {
      const other = byFile.get(file);
      if (other) join(document, other);
    }
  return groups;

  function join(one: DocumentHead, other: DocumentHead): void {
    const left = groups.get(one) as DocumentHead[];
    const right = groups.get(other) as DocumentHead[];
    if (
      left === right ||
      left.length + right.length > maxTwins ||
      left.some((each) => right.some(({ lang }) => lang === each.lang))
    )
      return;
    left.push(...right);
    for (const each of right) groups.set(each, left);
  }
}

/** Docusaurus is often in a folder of its own (`website/i18n`), with the originals beside that folder. */
function pathAtTop({ file, bare }: DocumentHead): string {
  const above = /^(?:[^/]+\/)+?(?=i18n\/[^/]+\/docusaurus-plugin-content-)/.exec(file)?.[0] ?? "";
  return bare.startsWith(above) ? bare.slice(above.length) : bare;
}

function directoriesOf(placed: readonly Placed[]): ReadonlyMap<string, readonly string[]> {
  const directories = new Map<string, Set<string>>([["", new Set()]]);
  for (const { address } of placed) {
    let rest = address;
    for (let slash = rest.lastIndexOf("/"); ; slash = rest.lastIndexOf("/")) {
      const above = rest.slice(0, Math.max(0, slash));
      const names = directories.get(above);
      if (names) {
        names.add(rest.slice(slash + 1));
        break;
      }
      directories.set(above, new Set([rest.slice(slash + 1)]));
      rest = above;
    }
  }
  return new Map([...directories].map(([path, names]) => [path, [...names].sort()]));
}
