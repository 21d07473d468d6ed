/** Reads skills, and checks the size and digest of every file and the front matter of SKILL.md. */
import { invalid, notFound, quote, ResourceError } from "../errors.ts";
import { canonicalJson } from "../lib/canonical-json.ts";
import { digestOf } from "../lib/digest.ts";
import { parseSkillFrontMatter } from "../lib/skill-front-matter.ts";
import type { Call, Resources, Skill } from "../resources.ts";

export interface CheckedFile {
  readonly uri: string;
  readonly bytes: Uint8Array;
}

/** Reads one file of a skill, by its URI as the skill names it. A mismatch throws "unexpected", and nothing is returned. */
export async function readSkillFile(
  resources: Pick<Resources, "read">,
  { uri: manifest, frontMatter, files }: Skill,
  uri: string,
  call: Call,
): Promise<CheckedFile> {
  const promised = files === "dynamic" ? undefined : files.find((file) => file.uri === uri);
  if (files !== "dynamic" && !promised) throw notFound(uri);
  const { contents } = await resources.read(uri, call);
  const [content] = contents;
  if (!content || contents.length > 1) throw new ResourceError("unexpected", `${quote(uri)} is not one file`);
  const bytes = "text" in content.body ? new TextEncoder().encode(content.body.text) : content.body.bytes;
  if (promised && (bytes.length !== promised.size || (await digestOf(bytes)) !== promised.digest.toLowerCase()))
    throw mismatch(uri, "the digest or size");
  // A dynamic skill has no digests: its front matter is checked even so.
  if (uri === manifest) {
    const parsed = await parseSkillFrontMatter(new TextDecoder().decode(bytes));
    if (!("fields" in parsed) || canonicalJson(parsed.fields) !== canonicalJson(frontMatter))
      throw mismatch(uri, "the front matter");
  }
  return { uri, bytes };
}

function mismatch(uri: string, what: string): ResourceError {
  return new ResourceError("unexpected", `${quote(uri)} does not match ${what} in the skill; request the skill again`);
}

/** Reads the skill with this SKILL.md and all its files, each checked. A "dynamic" skill has no list of files. */
export async function readSkill(
  resources: Resources,
  uri: string,
  call: Call,
): Promise<{ readonly skill: Skill; readonly files: readonly CheckedFile[] }> {
  if (!resources.skill) throw invalid("this server has no skills");
  const { skill } = await resources.skill(uri, call);
  const uris = skill.files === "dynamic" ? [skill.uri] : skill.files.map((file) => file.uri);
  const files: CheckedFile[] = [];
  for (const each of uris) files.push(await readSkillFile(resources, skill, each, call));
  return { skill, files };
}
