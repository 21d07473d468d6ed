/** Finds the documents to read first, at the top of each mount or by their priorities, with the permissions of the caller. */
import { isArchived } from "../lib/is-archived.ts";
import { type Call, directoryType, type Resource, type Resources } from "../resources.ts";
import { type NamedMount, pathBelowMount, rootOf } from "../protocol/tools/mounts.ts";
import type { Source } from "../source.ts";

interface ExaminedMount extends NamedMount {
  readonly source?: Pick<Source, "isRanked" | "isUnordered">;
}

export interface KeyDocument {
  readonly uri: string;
  readonly name: string;
}

const maxMounts = 12;
const maxGlanced = 4;
const maxEntries = 500;
const maxFolders = 2;
const maxKeyResources = 3;
/** Entries of a ranked mount. */
const maxRanked = 20_000;
/** Of a document about which nothing special is known: reading it first has no advantage. */
const usualPriority = 0.5;

const docFolders = /^(?:docs?|documentation|guides?|文書|ドキュメント|資料)$/i;

/** The first match wins. Other documents count only if their source gives a priority. */
const weights: readonly (readonly [RegExp, number])[] = [
  [/^(?:agents|claude|gemini|llms)\.(?:md|txt)$/i, 90],
  [/^readme\.(?:md|markdown|mdx|rst|adoc|txt)$/i, 80],
  [/^readme(?:[._-][\w-]+)?(?:\.\w+)?$/i, 75],
  [/^(?:skill|overview|architecture|design|概要|設計)\.\w+$/i, 60],
  [/^(?:index|introduction|getting[-_ ]started|はじめに)\.(?:md|markdown|mdx|rst|adoc|txt)$/i, 55],
  [/^(?:contributing|guide|manual|faq|手順|ガイド|マニュアル)\.\w+$/i, 50],
];
/** Weight of an ordinary document. */
const docWeight = 20;
const docTypes = /\.(?:md|markdown|mdx|rst|adoc|org)$/i;

/** A README of a folder weighs less than that of the root. */
const docShare = 0.6;
const usualNames = ["AGENTS.md", "CLAUDE.md", "README.md", "docs/README.md", "docs/index.md"];

interface Found extends KeyDocument {
  readonly weight: number;
}

/** At most three, the most important first. Mounts that fail are skipped. */
export async function findKeyDocuments(
  mounts: readonly ExaminedMount[],
  resources: Resources,
  call: Call,
): Promise<readonly KeyDocument[]> {
  const lookups = mounts
    .slice(0, maxMounts)
    .map((mount) => (mount.source?.isRanked ? highestOf : lookAt)(mount, resources, call));
  return best(await Promise.all(lookups));
}

/** Checks only common names, which is fast for any number of resources, and ranked mounts. Reports what is known after each lookup. */
export async function quickFindKeyDocuments(
  mounts: readonly ExaminedMount[],
  resources: Resources,
  call: Call,
  report: (found: readonly KeyDocument[]) => void,
): Promise<void> {
  const lookups = mounts.slice(0, maxMounts).flatMap((mount, index) => {
    if (mount.source?.isRanked) return [highestOf(mount, resources, call)];
    if (index >= maxGlanced) return [];
    return usualNames.map(async (name) => {
      const found = await resources.stat(mount.base + name, call).catch(() => undefined);
      return found ? toFound(found, mount, name, name.includes("/") ? docShare : 1, 0) : [];
    });
  });
  const found: (readonly Found[])[] = lookups.map(() => []);
  await Promise.all(
    lookups.map(async (lookup, index) => {
      found[index] = await lookup;
      report(best(found));
    }),
  );
}

function best(found: readonly (readonly Found[])[]): readonly KeyDocument[] {
  return (
    found
      .flat()
      // The sort is stable: equal weights keep the order of mounts and names.
      .sort((one, other) => other.weight - one.weight)
      .slice(0, maxKeyResources)
      .map(({ uri, name }) => ({ uri, name }))
  );
}

interface Ranked extends Found {
  readonly depth: number;
  /** Paths of the same document in other languages. */
  readonly twins: readonly string[];
}

/** The highest priorities of a ranked mount, each document in one language; of equal ones, those nearest to the top. */
async function highestOf(mount: ExaminedMount, resources: Resources, call: Call): Promise<readonly Found[]> {
  const ranked: Ranked[] = [];
  try {
    let count = 0;
    for (let cursor: string | undefined; ;) {
      const page = await resources.list({ mount: mount.name, ...(cursor !== undefined && { cursor }) }, call);
      ranked.push(...page.items.flatMap((item) => toRanked(item, mount)));
      count += page.items.length;
      cursor = page.next;
      if (cursor === undefined || count >= maxRanked) break;
    }
  } catch {
    // Entries that were listed before the failure count.
  }
  ranked.sort((one, other) => other.weight - one.weight || one.depth - other.depth);
  const chosen: Ranked[] = [];
  for (const each of ranked) {
    if (chosen.length === maxKeyResources) break;
    if (!chosen.some(({ twins }) => twins.includes(each.name))) chosen.push(each);
  }
  return chosen;
}

function toRanked(resource: Resource, mount: ExaminedMount): readonly Ranked[] {
  if ((resource.annotations?.priority ?? 0) <= usualPriority) return [];
  const path = pathBelowMount([mount], resource.uri) ?? resource.name;
  const { twins = {} } = (resource.meta?.["pressmark/docs"] ?? {}) as { twins?: Readonly<Record<string, string>> };
  const depth = path.split("/").length;
  return toFound(resource, mount, path, 1, 0).map((found) => ({ ...found, depth, twins: Object.values(twins) }));
}

async function lookAt(mount: ExaminedMount, resources: Resources, call: Call): Promise<readonly Found[]> {
  try {
    const top = await childrenOf(rootOf(mount.base), mount, resources, call);
    const folders = top.filter(({ name, mimeType }) => mimeType === directoryType && docFolders.test(name));
    const below = await Promise.all(
      folders.slice(0, maxFolders).map(async (folder) => {
        const children = await childrenOf(folder.uri, mount, resources, call);
        return children.flatMap((child) => toFound(child, mount, `${folder.name}/${child.name}`, docShare, docWeight));
      }),
    );
    return [...top.flatMap((child) => toFound(child, mount, child.name, 1, 0)), ...below.flat()];
  } catch {
    return [];
  }
}

/** A source without directories is listed. */
async function childrenOf(
  uri: string,
  { name: mount }: NamedMount,
  resources: Resources,
  call: Call,
): Promise<readonly Resource[]> {
  try {
    return (await resources.children(uri, { limit: maxEntries }, call)).items;
  } catch {
    const { items } = await resources.list({ limit: maxEntries, mount }, call);
    return items.filter((item) => item.uri.startsWith(uri));
  }
}

function toFound(
  resource: Resource,
  { priority: ofMount, source }: ExaminedMount,
  name: string,
  share: number,
  otherwise: number,
): readonly Found[] {
  const { uri, annotations, mimeType } = resource;
  // A priority that a document has only from its mount does not tell documents apart. Those of a ranked mount have their own.
  const priority = annotations?.priority === ofMount && !source?.isRanked ? undefined : annotations?.priority;
  if (mimeType === directoryType || annotations?.audience?.includes("assistant") === false) return [];
  const known = weights.find(([pattern]) => pattern.test(resource.name))?.[1];
  const usual = known === undefined ? (docTypes.test(resource.name) ? otherwise : 0) : known * share;
  const weight = priority === undefined ? (isArchived(name) ? 0 : usual) : priority * 100;
  return weight > 0 ? [{ uri, name, weight }] : [];
}
