/** Where skills are kept, by the customs of the hosts: hidden or not, they are made to be read by a model. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

export const skillFolders = [".claude/skills", ".agents/skills", ".github/skills", "skills"];

/** Those that a project has, from its folder. A name that could mean anything counts only where a skill is in it. */
export function skillFoldersIn(project: string): string[] {
  return skillFolders.filter((name) => {
    const folder = join(project, name);
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return false;
    return name.startsWith(".") || holdsSkill(folder);
  });
}

export function holdsSkill(folder: string): boolean {
  try {
    return readdirSync(folder, { withFileTypes: true }).some(
      (entry) => entry.isDirectory() && statSync(join(folder, entry.name, "SKILL.md"), { throwIfNoEntry: false }),
    );
  } catch {
    return false;
  }
}
