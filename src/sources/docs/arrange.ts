/** From files to addresses, each file at one and no two at the same, and which of them are one document in several languages. */
import { compareAddresses } from "../../lib/address-order.ts";
import type { DocumentHead } from "./head.ts";

export interface Placed {
  readonly document: DocumentHead;
  /** `{lang}/{path}`, without the marks of the language where that is possible. */
  readonly address: string;
  /** Language → address of the same document in other languages. */
  readonly twins: ReadonlyMap<string, string>;
}

export interface Arrangement {
  /** In address order. */
  readonly placed: readonly Placed[];
  readonly byAddress: ReadonlyMap<string, Placed>;
  readonly byFile: ReadonlyMap<string, Placed>;
  /** Directory → the names in it, in order. The mount itself is "". */
  readonly directories: ReadonlyMap<string, readonly string[]>;
}

export function arrange(documents: readonly DocumentHead[]): Arrangement {
  const addresses = placeAll(documents);
  const twins = pair(documents);
  const placed = documents.map((document): Placed => {
    const others = new Map<string, string>();
    for (const other of twins.get(document) ?? [])
      if (other !== document) others.set(other.lang, addresses.get(other) as string);
    return { document, address: addresses.get(document) as string, twins: others };
  });
  placed.sort((left, right) => compareAddresses(left.address, right.address));
  return {
    placed,
    byAddress: new Map(placed.map((each) => [each.address, each])),
    byFile: new Map(placed.map((each) => [each.document.file, each])),
    directories: directoriesOf(placed),
  };
}

/**
 * Each asks for its path without marks, and gets it unless a file stands there by its own name, or one that comes before it asks for the
 * same; then its whole path is its address. No two can meet there: a path without marks of the language never has one, and a whole
 * path that was asked for without always does.
 */
function placeAll(documents: readonly DocumentHead[]): Map<DocumentHead, string> {
  const addresses = new Map<DocumentHead, string>();
  const taken = new Map<string, DocumentHead>();
  const wishes = documents.map((document) => ({
    document,
    address: `${document.lang}/${document.bare}`,
  }));
  const isMarked = ({ document, address }: (typeof wishes)[number]) => address !== whole(document);
  // Those who ask for their whole path come first.
  wishes.sort((left, right) => Number(isMarked(left)) - Number(isMarked(right)));
  for (const { document, address } of wishes) put(document, taken.has(address) ? whole(document) : address);
  while (separate());
  return addresses;

  function put(document: DocumentHead, address: string): void {
    addresses.set(document, address);
    taken.set(address, document);
  }

  /** Nothing is both a document and a directory. Whether anything had to move: whole paths never meet, so this comes to an end. */
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

/** A document in more languages than this is none. */
const maxTwins = 64;

/** The documents that are one: by their path without marks, and by the language bars. Never two of one language. */
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
