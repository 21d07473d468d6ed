/** Finds a program in PATH that a served folder cannot have put there. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, sep } from "node:path";

/** Only absolute folders, without package folders and the folders in `avoid`: a project must not provide the program that reads it. */
export function usablePath(path: string, avoid: readonly string[]): string {
  return path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !folder.split(/[\\/]/).includes("node_modules"))
    .filter((folder) => {
      const real = realOf(folder);
      return real !== undefined && !avoid.some((outer) => real === outer || real.startsWith(outer + sep));
    })
    .join(delimiter);
}

/** The file of a program; undefined if no folder of the path has it. */
export function findProgram(name: string, path: string): string | undefined {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, process.platform === "win32" ? `${name}.exe` : name);
    try {
      accessSync(file, constants.X_OK);
      if (folder !== "" && statSync(file).isFile()) return file;
    } catch {
      continue;
    }
  }
  return undefined;
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
