/** Resolves what a user types to a URI. */
import { relative, resolve, sep } from "node:path";
import { notFound } from "../errors.ts";
import type { Annotations, Call, Resources } from "../resources.ts";
import { createRoutes, type Mount } from "../router/route.ts";
import { isWithin } from "./folders.ts";

/** A mount of a server. Its source has its layers; no policy is applied there. */
export interface ServedMount extends Mount {
  /** The mount's folder, if its addresses are paths: absolute, without links. */
  readonly folder?: string;
  /** From 0 to 1. */
  readonly priority?: number;
  readonly audience?: Annotations["audience"];
  /** Whether its backend may be missing on this machine. */
  readonly isOptional?: boolean;
  /** Description of its source. */
  readonly summary?: string;
}

/**
 * Resolves a URI, an absolute path, or a path within one of the folders or the current folder `from`. A path that begins with a dot is looked
 * for in the current folder first; any other, as commands print it, in the mounts first.
 */
export async function locate(
  where: string,
  from: string,
  mounts: readonly ServedMount[],
  resources: Resources,
  call: Call,
): Promise<string> {
  const roots = new Set(createRoutes(mounts).mounts.map(({ root }) => root));
  const exists = async (uri: string) =>
    roots.has(uri) || (await resources.stat(uri, call).catch(() => undefined)) !== undefined;
  for (const spelling of spellingsOf(where)) {
    const inMounts = () => urisFor(spelling, mounts, (folder) => folder);
    const inCurrent = () => urisIn(spelling, from, mounts);
    for (const uri of inTurn(isDotted(where) ? [inCurrent, inMounts] : [inMounts, inCurrent])) {
      if (uri === where) return withoutSlash(uri, exists);
      if (await exists(uri)) return uri;
    }
  }
  throw notFound(where);
}

/** A text as it is, composed and decomposed: macOS stores が as two characters, and keyboards type one. */
export function spellingsOf(text: string): ReadonlySet<string> {
  return new Set([text, text.normalize("NFC"), text.normalize("NFD")]);
}

/** Whether a path is explicitly relative: `.`, `./a`, `../a`. */
export function isDotted(where: string): boolean {
  return /^\.{1,2}(?:\/|$)/.test(where);
}

function* inTurn(lists: readonly (() => Iterable<string>)[]): Generator<string> {
  for (const list of lists) yield* list();
}

/**
 * The URI of a directory has no slash at its end, but the bases of mounts have one, and people write it. If there is nothing with the
 * slash, the URI without it is meant.
 */
export async function withoutSlash(uri: string, exists: (uri: string) => Promise<boolean>): Promise<string> {
  const bare = uri.replace(/(?<=[^:/])\/$/, "");
  return bare !== uri && !(await exists(uri)) && (await exists(bare)) ? bare : uri;
}

/** The URI of a URI or a path relative to `from`, existing or not; undefined if no mount could contain it. */
export function uriFor(where: string, from: string, mounts: readonly ServedMount[]): string | undefined {
  return urisFor(where, mounts, () => from).next().value;
}

/** URI of a folder in the innermost mount that contains it, existing or not; undefined if none does. */
export function uriOfFolder(folder: string, mounts: readonly ServedMount[]): string | undefined {
  return urisIn(".", folder, mounts).next().value;
}

/** As `urisFor`, of a path relative to a folder: in the innermost mount first. */
function urisIn(where: string, from: string, mounts: readonly ServedMount[]): Generator<string, undefined> {
  const depth = ({ folder = "" }: ServedMount) => folder.length;
  return urisFor(
    where,
    mounts.toSorted((one, other) => depth(other) - depth(one)),
    () => from,
  );
}

/** URIs that a path may mean, by mount; a URI means itself. */
function* urisFor(
  where: string,
  mounts: readonly ServedMount[],
  from: (folder: string) => string,
): Generator<string, undefined> {
  const routes = createRoutes(mounts);
  if (where.includes("://") || routes.find(where)) return yield where;
  for (const { name, folder } of mounts) {
    if (folder === undefined) continue;
    const path = resolve(from(folder), where);
    if (path !== folder && !isWithin(folder, path)) continue;
    const mounted = routes.mounts.find((mount) => mount.name === name)!;
    const uri = routes.format(mounted, { path: relative(folder, path).split(sep).join("/") });
    if (uri !== undefined) yield uri;
  }
}
