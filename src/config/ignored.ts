/** Whether the rules of a folder leave something in it out. The one place where configs ask the rules that files are served by. */
import { homedir } from "node:os";
import { relative, sep } from "node:path";
import { createLocalDisk } from "../backends/disk/disk.ts";
import { asFile, asFolder } from "../backends/folder-rules/name-rules.ts";
import { personOf } from "../backends/folder-rules/git-excludes.ts";
import { createFolderRules } from "../backends/folder-rules/folder-rules.ts";
import { run } from "../backends/disk/steps.ts";

/**
 * True for what ignore files, git's own excludes, `node_modules` or the name of a secret keep from being served. The path is below the
 * folder, and both are without links. Names that begin with a dot are not judged here.
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
    person: personOf(process.env, homedir()),
  });
  return async (path, isFolder) => {
    const names = relative(folder, path).split(sep);
    // What is in a folder that is not served, or not there yet, is judged by the rules of the nearest folder that is.
    for (let depth = names.length - 1; depth >= 0; depth -= 1) {
      const rules = await run(folderRules.rulesIn(names.slice(0, depth).join("/")));
      if (!rules) continue;
      const rest = names.slice(depth);
      return !rest.every((name, index) => {
        const asked = isFolder || index < rest.length - 1 ? asFolder : asFile;
        return name === "" || (folderRules.verdict(rules, name) & asked) !== 0;
      });
    }
    return false;
  };
}
