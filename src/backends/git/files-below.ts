/** All files below a folder of a commit, in unspecified order. Links and submodules are left out. */
import type { Objects } from "./objects.ts";
import type { Commit } from "./refs.ts";
import type { ServedTrees } from "./served-trees.ts";

export interface FileBelow {
  /** Relative to the folder. */
  readonly path: string;
  readonly hash: string;
  readonly size: number;
}

type FilesBelow = (commit: Commit, folder: readonly string[]) => Promise<FileBelow[]>;

/** Further files are left out. */
const maxFiles = 1_000_000;
const maxSizes = 200_000;

export function createFilesBelow(trees: ServedTrees, headers: Objects): FilesBelow {
  /** By hash, which determines the size. */
  const sizes = new Map<string, number>();

  async function sizeOf(hash: string): Promise<number | undefined> {
    const known = sizes.get(hash);
    if (known !== undefined) return known;
    const size = (await headers.find(hash))?.size;
    if (sizes.size >= maxSizes) sizes.clear();
    if (size !== undefined) sizes.set(hash, size);
    return size;
  }

  return async function filesBelow(commit, folder) {
    const found: FileBelow[] = [];
    const ahead: (readonly string[])[] = [[]];
    for (let below = ahead.pop(); below && found.length < maxFiles; below = ahead.pop()) {
      const { names, entries } = await trees.folder(commit, [...folder, ...below]);
      const files = names.map(async (name): Promise<FileBelow[]> => {
        const { kind, hash } = entries.get(name)!;
        const path = [...below!, name];
        if (kind === "folder") ahead.push(path);
        const size = kind === "file" ? await sizeOf(hash) : undefined;
        return size === undefined ? [] : [{ path: path.join("/"), hash, size }];
      });
      found.push(...(await Promise.all(files)).flat());
    }
    return found;
  };
}
