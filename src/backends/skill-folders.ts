/** Where hosts keep skills. These folders may be hidden, but are meant for models. */
import { readdirSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import { realPath } from "../lib/real-path.ts";

export const skillFolders = [".claude/skills", ".agents/skills", ".github/skills", "skills"];

/** Skill folders inside a project, relative to it. An ambiguous name counts only if it contains a skill. */
export function skillFoldersIn(project: string): string[] {
  return skillFolders.filter((name) => {
    const folder = join(project, name);
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return false;
    // A link must not leave the project.
    if (!realPath(folder).startsWith(join(realPath(project), sep))) return false;
    return name.startsWith(".") || holdsSkill(folder);
  });
}

function holdsSkill(folder: string): boolean {
  try {
    return readdirSync(folder, { withFileTypes: true }).some(
      (entry) => entry.isDirectory() && statSync(join(folder, entry.name, "SKILL.md"), { throwIfNoEntry: false }),
    );
  } catch {
    return false;
  }
}
