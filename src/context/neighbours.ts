/** Finds what is related to the best candidates without sharing their words: tests, headers, imports, translations. */
import { encodeSegment } from "../lib/encode-path.ts";
import { type Call, directoryType, type Resource, type Resources } from "../resources.ts";
import { readable } from "./candidates.ts";
import { importsOf } from "./imports.ts";
import { roundRobin, tryRequest } from "./round-robin.ts";
import { isLanguage, kinship } from "./related-names.ts";

/** A candidate whose neighbours are searched. */
interface RelatedTo {
  readonly uri: string;
  readonly text: string;
}

interface Neighbour {
  readonly resource: Resource;
  /** Index of the candidate that it is related to. */
  readonly of: number;
  /** From 0 to 1. */
  readonly nearness: number;
  readonly why: string;
}

const maxImported = 8;
const maxFolders = 40;
const atOnce = 4;

/** `known` need not be searched. */
export async function findNeighbours(
  resources: Resources,
  candidates: readonly RelatedTo[],
  known: readonly Resource[],
  call: Call,
): Promise<readonly Neighbour[]> {
  const folders = new Map<string, Promise<readonly Resource[]>>();
  const childrenOf = async (folder: string): Promise<readonly Resource[]> =>
    (await tryRequest(() => resources.children(folder, { limit: 1000 }, call), { items: [] }, call)).items;
  const look = (folder: string): Promise<readonly Resource[]> => {
    let listed = folders.get(folder);
    if (!listed) {
      listed = folders.size >= maxFolders ? Promise.resolve([]) : childrenOf(folder);
      folders.set(folder, listed);
    }
    return listed;
  };
  const found = await roundRobin(candidates, atOnce, async (candidate, of): Promise<readonly Neighbour[]> => {
    const folder = folderOf(candidate.uri);
    const name = baseNameOf(candidate.uri);
    if (folder === undefined) return [];
    const beside = await look(folder);
    const inner = beside.filter(({ mimeType, uri }) => mimeType === directoryType && testFolder.test(baseNameOf(uri)));
    const elsewhere = [...inner.map(({ uri }) => uri), ...mirrored(folder)];
    const listed = [...beside, ...(await roundRobin(elsewhere, 2, look)).flat()];
    const twins = [...listed, ...known].flatMap((resource) => {
      const kin = resource.mimeType === directoryType ? undefined : kinship(name, baseNameOf(resource.uri));
      return kin ? [{ resource, of, nearness: nearnessOf[kin], why: `${sayKin[kin]} ${name}` }] : [];
    });
    return [...twins, ...(await translated(candidate.uri, of, look)), ...(await imported(candidate, of, known, look))];
  });
  return found.flat();
}

const nearnessOf = { test: 1, tested: 1, half: 1, translation: 0.7 } as const;
const sayKin = {
  test: "tests",
  tested: "is tested by",
  half: "is the counterpart of",
  translation: "is a translation of",
};
const testFolder = /^(?:__tests__|tests?|specs?|テスト|試験)$/i;

/** Separate test folders: `src/a` and `tests/a`. */
function mirrored(folder: string): readonly string[] {
  const swapped = (from: RegExp, to: readonly string[]) =>
    from.test(folder) ? to.map((name) => folder.replace(from, `/${name}$1`)) : [];
  return [
    ...swapped(/\/(?:src|lib|app)\/main(\/|$)/, ["src/test"]),
    ...swapped(/\/src\/test(\/|$)/, ["src/main"]),
    ...swapped(/\/(?:src|lib|app)(\/|$)/, ["tests", "test", "spec"]),
    ...swapped(/\/(?:tests?|spec|__tests__)(\/|$)/, ["src", "lib"]),
    ...(/\/(?:tests?|__tests__)$/.test(folder) ? [folder.slice(0, folder.lastIndexOf("/"))] : []),
  ].slice(0, 5);
}

/** The same document in the folder of another language. */
async function translated(
  uri: string,
  of: number,
  look: (folder: string) => Promise<readonly Resource[]>,
): Promise<readonly Neighbour[]> {
  const segments = uri.split("/");
  const at = segments.findIndex((segment, index) => index > 2 && index < segments.length - 1 && isLanguage(segment));
  if (at === -1) return [];
  const others = (await look(segments.slice(0, at).join("/"))).filter(
    (one) => one.mimeType === directoryType && isLanguage(baseNameOf(one.uri)) && baseNameOf(one.uri) !== segments[at],
  );
  const found: Neighbour[] = [];
  for (const { uri: other } of others.slice(0, 3)) {
    const there = [other.replace(/\/$/, ""), ...segments.slice(at + 1)].join("/");
    const twin = (await look(folderOf(there) ?? there)).find((one) => one.uri === there);
    if (twin) found.push({ resource: twin, of, nearness: 0.7, why: `is a translation of ${baseNameOf(uri)}` });
  }
  return found;
}

async function imported(
  { uri, text }: RelatedTo,
  of: number,
  known: readonly Resource[],
  look: (folder: string) => Promise<readonly Resource[]>,
): Promise<readonly Neighbour[]> {
  const found = new Map<string, Resource>();
  for (const { path, isRelative } of importsOf(readable(uri), text)) {
    if (found.size >= maxImported) break;
    if (isRelative) {
      const target = joinPath(uri, path);
      const folder = target === undefined ? undefined : folderOf(target);
      if (target === undefined || folder === undefined) continue;
      const match = (await look(folder)).find(
        (one) => one.mimeType !== directoryType && sameButEnding(one.uri, target),
      );
      if (match) found.set(match.uri, match);
    } else {
      const match = known.find((one) => sameEnding(readable(one.uri), path));
      if (match) found.set(match.uri, match);
    }
  }
  found.delete(uri);
  return Array.from(found.values(), (resource) => ({
    resource,
    of,
    nearness: 0.4,
    why: `is imported by ${baseNameOf(uri)}`,
  }));
}

function sameButEnding(uri: string, target: string): boolean {
  return uri === target || (uri.startsWith(`${target}.`) && !uri.slice(target.length + 1).includes("."));
}

function sameEnding(path: string, end: string): boolean {
  return path.endsWith(`/${end}`) || path.replace(/\.[^./]+$/, "").endsWith(`/${end}`);
}

/** Undefined for a URI without a folder, or with a query. */
function folderOf(uri: string): string | undefined {
  const slash = uri.lastIndexOf("/");
  return slash < 0 || uri.includes("?") || uri.includes("#") || uri[slash - 1] === "/"
    ? undefined
    : uri.slice(0, slash);
}

export function baseNameOf(uri: string): string {
  return readable(uri.slice(uri.lastIndexOf("/") + 1));
}

/** Undefined if the path would leave the root of the URI. */
function joinPath(uri: string, path: string): string | undefined {
  const segments = uri.split("/").slice(0, -1);
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment === "..") segments.pop();
    else segments.push(encodeSegment(readable(segment).toWellFormed()));
    if (segments.length < 3) return undefined;
  }
  return segments.join("/");
}
