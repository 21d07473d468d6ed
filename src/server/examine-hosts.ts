/** Checks whether installed hosts have a working entry for Pressmark. */
import { existsSync } from "node:fs";
import { wrongWith } from "../config/hosts/connection.ts";
import type { HostFile } from "../config/hosts/hosts.ts";
import { type HostEntry, readEntry } from "../config/hosts/settings.ts";
import { ResourceError } from "../errors.ts";
import type { CheckResult } from "./examine.ts";
import type { InstalledHosts } from "./installed-hosts.ts";

interface Looked {
  readonly file: HostFile;
  readonly entry?: HostEntry;
  readonly problem?: string;
}

/** One result per installed host, or two if one of its files is broken. */
export function examineHosts({ files, here }: Pick<InstalledHosts, "files" | "here">): CheckResult[] {
  const titles = [...new Set(files.map(({ title }) => title))];
  return titles.flatMap((title): CheckResult[] => {
    const looked = files.filter((file) => file.title === title && existsSync(file.sign)).map(look);
    if (looked.length === 0) return [];
    const broken = looked.flatMap(({ file, entry, problem }): CheckResult[] => {
      const wrong = problem ?? (entry && wrongWith(entry, here));
      if (wrong === undefined) return [];
      const says = problem ?? `${file.file} ${wrong}`;
      return [{ about: title, state: "broken", says, ...(problem === undefined && { advice: addCommand(file) }) }];
    });
    if (broken.length > 0) return broken;
    const known = looked.filter(({ entry }) => entry);
    if (known.length === 0)
      return [{ about: title, state: "hint", says: "has no entry for Pressmark", advice: addCommand(looked[0]!.file) }];
    return [
      {
        about: title,
        state: "ok",
        says: `has an entry for Pressmark: ${known.map(({ file }) => file.file).join(", ")}`,
      },
    ];
  });
}

function look(file: HostFile): Looked {
  try {
    const entry = readEntry(file);
    return { file, entry };
  } catch (cause) {
    if (!(cause instanceof ResourceError)) throw cause;
    return { file, problem: cause.message };
  }
}

function addCommand({ host, scope }: HostFile): string {
  return `pressmark add ${host}${scope === "user" ? " --scope user" : ""}`;
}
