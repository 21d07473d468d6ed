/** Skills as a caller sees them: only the files that they may see, and no trace of the others. */
import { notFound } from "../errors.ts";
import type { Call, Resources, Skill, SkillFile } from "../resources.ts";
import type { SourceSkill } from "../source.ts";
import type { Access } from "./access.ts";
import type { RoutedMount } from "./route.ts";

/**
 * Returns the skill as if the hidden files did not exist: leaving out the skill, or an extra digest, would reveal that something is
 * hidden. Undefined if SKILL.md itself is hidden.
 */
export function showSkill(
  access: Access,
  { frontMatter, files, ...manifest }: SourceSkill,
  mount: RoutedMount,
  call: Call,
): Skill | undefined {
  const uriOf = (at: Pick<SourceSkill, "path" | "reveals">) =>
    access.maySee(call, mount, at) && access.mayReach(call, mount, at) ? access.routes.format(mount, at) : undefined;
  const uri = uriOf(manifest);
  if (uri === undefined) return undefined;
  if (files === "dynamic") return { uri, frontMatter, files };
  const shown = files.flatMap((file): SkillFile[] => {
    const own = uriOf(file);
    return own === undefined ? [] : [{ uri: own, digest: file.digest, size: file.size }];
  });
  return { uri, frontMatter, files: shown };
}

export function createSkills(access: Access): Required<Pick<Resources, "skill">> {
  return {
    async skill(uri, call) {
      const { mount, at } = access.place(uri, call);
      const { source } = mount;
      if (source.skill === undefined || at.query !== undefined) throw notFound(uri);
      let found: SourceSkill;
      try {
        found = await source.skill(at, call);
      } catch (cause) {
        throw access.refusal(cause, { uri, mount, asked: "skill" }, call);
      }
      const skill = showSkill(access, found, mount, call);
      if (skill === undefined) throw notFound(uri);
      return {
        skill: reformatted(skill, uri),
        ttlMs: mount.freshness?.ttlMs ?? 0,
        scope: access.isOpen ? (mount.freshness?.scope ?? "private") : "private",
      };
    },
  };
}

/** All URIs begin as the caller's does, so that clients can compare them as text. */
function reformatted(skill: Skill, uri: string): Skill {
  if (skill.uri === uri || skill.files === "dynamic") return { ...skill, uri };
  const before = skill.uri.lastIndexOf("/");
  const root = uri.slice(0, uri.lastIndexOf("/"));
  const files = skill.files.map((file) => ({
    ...file,
    uri: file.uri === skill.uri ? uri : root + file.uri.slice(before),
  }));
  return { ...skill, uri, files };
}
