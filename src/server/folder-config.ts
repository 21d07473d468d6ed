/** The config of folders that are served without a config file: their files, their skills, and the history of their repositories. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config, MountConfig } from "../config/config.ts";
import { skillFoldersIn } from "../backends/skill-folders.ts";
import type { Runtime, SourceDefinition } from "../source.ts";
import { sources } from "../sources/index.ts";
import { findFolders, freeName, type NamedFolder } from "./folders.ts";
import type { Project } from "./search/index-location.ts";

/** Larger files are listed but not read: they would not fit a model's context. */
const maxBytes = 5 * 1024 * 1024;

/** Loads only the sources that are needed, and runs no program. */
export async function createFolderConfig(
  named: readonly string[],
  from: string,
  { log }: Pick<Runtime, "log">,
): Promise<{ readonly config: Config; readonly project: Project }> {
  const folders = findFolders(named, from);
  const names = new Set(folders.map(({ name }) => name));
  const { default: file } = await sources.file();
  const files = folders.map(({ name, path }) => toMount(name, file, { root: path, maxBytes }));
  const mounts = [...files, ...(await skillsMount(folders, names)), ...(await gitMounts(folders, names, log))];
  return {
    config: {
      folder: from,
      mounts,
      faulty: [],
      server: {},
      search: {},
      sets: [],
      access: { callers: [], rules: [] },
      permissions: [],
      withheld: [],
      redact: (text) => text,
      shown: {},
      refusal: (_path, cause) => cause,
    },
    project: { folders: folders.map(({ path }) => path) },
  };
}

function toMount<Options>(name: string, definition: SourceDefinition<Options>, options: Options): MountConfig {
  return { name, definition: definition as SourceDefinition, options, limits: {} };
}

/** One mount for the skills of all folders, if there are any. */
async function skillsMount(folders: readonly NamedFolder[], names: Set<string>): Promise<MountConfig[]> {
  const roots = folders.flatMap(({ path }) => skillFoldersIn(path).map((name) => join(path, name)));
  if (roots.length === 0) return [];
  const { default: skills } = await sources.skills();
  return [toMount(freeName("skills", names), skills, { roots })];
}

/** One mount for each repository that stays inside its folder. */
async function gitMounts(
  folders: readonly NamedFolder[],
  names: Set<string>,
  log: Runtime["log"],
): Promise<MountConfig[]> {
  const mounts: MountConfig[] = [];
  for (const { name: folder, path } of folders) {
    if (!existsSync(join(path, ".git"))) continue;
    const { findRepository } = await import("../backends/git/repository.ts");
    const { placesBeyond } = await import("../backends/git/reach.ts");
    const repository = findRepository(path);
    if (!repository || repository.isBare) continue;
    // Worktrees, submodules and borrowed objects lead outside, which needs a trusted config.
    const [place] = placesBeyond(repository, path);
    if (place !== undefined) {
      log(
        "warn",
        "a folder is served without its git history, because the repository leads outside the folder or cannot be checked",
        { path, place },
      );
      continue;
    }
    const { default: git } = await sources.git();
    const name = freeName(folders.length === 1 ? "git" : `${folder}-git`, names);
    const base = `${git.scheme}://${encodeURIComponent(folder)}/`;
    mounts.push({ ...toMount(name, git, { root: path }), base });
  }
  return mounts;
}
