/** Git mounts for folders served without a config: one for each repository that stays inside its folder. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { stack } from "../layer.ts";
import { standardLayers } from "../layers/standard.ts";
import type { Mount } from "../router/route.ts";
import type { Runtime } from "../source.ts";
import { sources } from "../sources/index.ts";

/** Loads nothing if no folder is a repository, and runs no program before the first request. */
export async function openGitMounts(
  folders: readonly { readonly name: string; readonly path: string }[],
  runtime: Runtime,
  taken: ReadonlySet<string>,
): Promise<Mount[]> {
  const mounts: Mount[] = [];
  const names = new Set(taken);
  for (const { name: folder, path } of folders) {
    if (!existsSync(join(path, ".git"))) continue;
    const { findRepository } = await import("../backends/git/repository.ts");
    const { placesBeyond } = await import("../backends/git/reach.ts");
    const repository = findRepository(path);
    if (!repository || repository.isBare) continue;
    // Worktrees, submodules and borrowed objects lead outside, which needs a trusted config.
    const [place] = placesBeyond(repository, path);
    if (place !== undefined) {
      runtime.log(
        "warn",
        "a folder is served without its git history, because the repository leads outside the folder or cannot be checked",
        { path, place },
      );
      continue;
    }
    const { default: git } = await sources.git();
    const plain = folders.length === 1 ? "git" : `${folder}-git`;
    let name = plain;
    for (let count = 2; names.has(name); count += 1) name = `${plain}-${count}`;
    names.add(name);
    const source = stack(await git.open({ root: path }, runtime), { name }, standardLayers(runtime));
    mounts.push({ name, base: `${git.scheme}://${encodeURIComponent(folder)}/`, source });
  }
  return mounts;
}
