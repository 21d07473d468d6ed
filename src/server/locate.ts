/** Resolves what a user types to a URI. */
import { relative, resolve, sep } from "node:path";
import { notFound } from "../errors.ts";
import type { Call, Resources } from "../resources.ts";
import { createRoutes, type Mount } from "../router/route.ts";
import { isWithin } from "./folders.ts";

/** A mount, and its folder if its addresses are paths. */
export interface Located {
  readonly mount: Mount;
  /** Absolute, without links. */
  readonly folder?: string;
}

/** Resolves a URI, a path within one of the folders, or an absolute path. */
export async function locate(
  where: string,
  mounts: readonly Located[],
  resources: Resources,
  call: Call,
): Promise<string> {
  const routes = createRoutes(mounts.map(({ mount }) => mount));
  if (where.includes("://") || routes.find(where)) return where;
  for (const { mount, folder } of mounts) {
    if (folder === undefined) continue;
    const path = resolve(folder, where);
    if (path !== folder && !isWithin(folder, path)) continue;
    const mounted = routes.mounts.find(({ name }) => name === mount.name)!;
    const uri = routes.format(mounted, { path: relative(folder, path).split(sep).join("/") });
    if (uri !== undefined && (await resources.stat(uri, call).catch(() => undefined))) return uri;
  }
  throw notFound(where);
}

/** The URI of a URI or a path relative to `from`, existing or not; undefined if no mount could contain it. */
export function uriFor(where: string, from: string, mounts: readonly Located[]): string | undefined {
  const routes = createRoutes(mounts.map(({ mount }) => mount));
  if (where.includes("://") || routes.find(where)) return where;
  const path = resolve(from, where);
  for (const { mount, folder } of mounts) {
    if (folder === undefined || (path !== folder && !isWithin(folder, path))) continue;
    const mounted = routes.mounts.find(({ name }) => name === mount.name)!;
    const uri = routes.format(mounted, { path: relative(folder, path).split(sep).join("/") });
    if (uri !== undefined) return uri;
  }
  return undefined;
}
