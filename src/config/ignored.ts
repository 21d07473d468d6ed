/** Whether folder rules exclude a path, for the permission checks of a config. */
import { relative, sep } from "node:path";
import { createLocalDisk } from "../backends/disk/disk.ts";
import { asFile, asFolder } from "../backends/folder-rules/name-rules.ts";
import { personOf } from "../backends/folder-rules/git-excludes.ts";
import { createFolderRules } from "../backends/folder-rules/folder-rules.ts";
import { run } from "../backends/disk/steps.ts";

/**
 * True for paths that ignore files, git's excludes, `node_modules` or a secret's name exclude from serving. The path is below the
 * folder, both without links. Names that begin with a dot are not checked here.
 */
export type IsIgnored = (path: string, isFolder: boolean) => Promise<boolean>;

export function createIsIgnored(folder: string): IsIgnored {
  const folderRules = createFolderRules({
    root: folder,
    ignore: true,
    hidden: true,
    allow: [],
    exclude: [],
    disk: createLocalDisk(),
    person: personOf(),
  });
  return async (path, isFolder) => {
    const names = relative(folder, path).split(sep);
    // In a folder that is excluded or does not exist yet, the rules of the nearest served folder apply.
    for (let depth = names.length - 1; depth >= 0; depth -= 1) {
      const rules = await run(folderRules.rulesIn(names.slice(0, depth).join("/")));
      if (!rules) continue;
      const rest = names.slice(depth);
      return !rest.every((name, index) => {
        const kind = isFolder || index < rest.length - 1 ? asFolder : asFile;
        return name === "" || (folderRules.verdict(rules, name) & kind) !== 0;
      });
    }
    return false;
  };
}
