/** Skills as their callers may know them: of each the files that they may see, and nothing of the rest. */
import { notFound } from "../errors.ts";
import type { Call, Resources, Skill, SkillFile } from "../resources.ts";
import type { SourceSkill } from "../source.ts";
import type { Doors } from "./doors.ts";
import type { Mounted } from "./route.ts";

/**
 * A skill without what the caller may not see is the skill that there would be if that did not exist: a skill that were left out, or
 * a digest too many, would say that something is hidden. Undefined where SKILL.md itself is.
 */
export function showSkill(
  doors: Doors,
  { frontMatter, files, ...manifest }: SourceSkill,
  mount: Mounted,
  call: Call,
): Skill | undefined {
  const uriOf = (at: Pick<SourceSkill, "path" | "reveals">) =>
    doors.maySee(call, mount, at) && doors.mayReach(call, mount, at) ? doors.routes.spell(mount, at) : undefined;
  const uri = uriOf(manifest);
  if (uri === undefined) return undefined;
  if (files === "dynamic") return { uri, frontMatter, files };
  const shown = files.flatMap((file): SkillFile[] => {
    const own = uriOf(file);
    return own === undefined ? [] : [{ uri: own, digest: file.digest, size: file.size }];
  });
  return { uri, frontMatter, files: shown };
}

export function createSkills(doors: Doors): Required<Pick<Resources, "skill">> {
  return {
    async skill(uri, call) {
      const { mount, at } = doors.place(uri, call);
      const { source } = mount;
      if (source.skill === undefined || at.query !== undefined) throw notFound(uri);
      let found: SourceSkill;
      try {
        found = await source.skill(at, call);
      } catch (cause) {
        throw doors.refusal(cause, { uri, mount, asked: "skill" }, call);
      }
      const skill = showSkill(doors, found, mount, call);
      if (skill === undefined) throw notFound(uri);
      return {
        skill: respelled(skill, uri),
        ttlMs: mount.freshness?.ttlMs ?? 0,
        scope: doors.isOpen ? (mount.freshness?.scope ?? "private") : "private",
      };
    },
  };
}

/** All its URIs begin as the caller's does: what is compared with it as text is then found to be within. */
function respelled(skill: Skill, uri: string): Skill {
  if (skill.uri === uri || skill.files === "dynamic") return { ...skill, uri };
  const before = skill.uri.lastIndexOf("/");
  const root = uri.slice(0, uri.lastIndexOf("/"));
  const files = skill.files.map((file) => ({
    ...file,
    uri: file.uri === skill.uri ? uri : root + file.uri.slice(before),
  }));
  return { ...skill, uri, files };
}
