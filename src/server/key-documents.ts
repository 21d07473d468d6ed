/** Finds the documents to read first, at the top of each mount, with the permissions of the caller. */
import { isArchived } from "../lib/is-archived.ts";
import { type Call, directoryType, type Resource, type Resources } from "../resources.ts";
import { type NamedMount, rootOf } from "../protocol/tools/mounts.ts";

export interface KeyDocument {
  readonly uri: string;
  readonly name: string;
}

const maxMounts = 12;
const maxGlanced = 4;
const maxEntries = 500;
const maxFolders = 2;
const maxKeyResources = 3;

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
  mounts: readonly NamedMount[],
  resources: Resources,
  call: Call,
): Promise<readonly KeyDocument[]> {
  return best(await Promise.all(mounts.slice(0, maxMounts).map((mount) => lookAt(mount, resources, call))));
}

/** Checks only common names, which is fast for any number of resources. */
export async function quickFindKeyDocuments(
  mounts: readonly NamedMount[],
  resources: Resources,
  call: Call,
): Promise<readonly KeyDocument[]> {
  const lookups = mounts.slice(0, maxGlanced).flatMap(({ base }) =>
    usualNames.map(async (name) => {
      const found = await resources.stat(base + name, call).catch(() => undefined);
      return found ? toFound(found, name, name.includes("/") ? docShare : 1, 0) : [];
    }),
  );
  return best(await Promise.all(lookups));
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

async function lookAt({ base }: NamedMount, resources: Resources, call: Call): Promise<readonly Found[]> {
  try {
    const top = await childrenOf(rootOf(base), resources, call);
    const folders = top.filter(({ name, mimeType }) => mimeType === directoryType && docFolders.test(name));
    const below = await Promise.all(
      folders.slice(0, maxFolders).map(async (folder) => {
        const children = await childrenOf(folder.uri, resources, call);
        return children.flatMap((child) => toFound(child, `${folder.name}/${child.name}`, docShare, docWeight));
      }),
    );
    return [...top.flatMap((child) => toFound(child, child.name, 1, 0)), ...below.flat()];
  } catch {
    return [];
  }
}

/** A source without directories is listed. */
async function childrenOf(uri: string, resources: Resources, call: Call): Promise<readonly Resource[]> {
  try {
    return (await resources.children(uri, { limit: maxEntries }, call)).items;
  } catch {
    const { items } = await resources.list({ limit: maxEntries }, call);
    return items.filter((item) => item.uri.startsWith(uri));
  }
}

function toFound(resource: Resource, name: string, share: number, otherwise: number): readonly Found[] {
  const { uri, annotations, mimeType } = resource;
  if (mimeType === directoryType || annotations?.audience?.includes("assistant") === false) return [];
  const known = weights.find(([pattern]) => pattern.test(resource.name))?.[1];
  const usual = known === undefined ? (docTypes.test(resource.name) ? otherwise : 0) : known * share;
  const weight = annotations?.priority === undefined ? (isArchived(name) ? 0 : usual) : annotations.priority * 100;
  return weight > 0 ? [{ uri, name, weight }] : [];
}
