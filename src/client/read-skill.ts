/** Skills as they were promised: every file in the size and with the digest that the server said. */
import { invalid, notFound, quote, ResourceError } from "../errors.ts";
import { digestOf } from "../lib/digest.ts";
import type { Call, Resources, Skill } from "../resources.ts";

export interface CheckedFile {
  readonly uri: string;
  readonly bytes: Uint8Array;
}

/** One file of a skill, by its URI as the skill names it. What is not as promised throws "unexpected", and nothing of it is given. */
export async function readSkillFile(
  resources: Pick<Resources, "read">,
  { files }: Skill,
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
    throw new ResourceError("unexpected", `${quote(uri)} is not what the skill promises; ask for the skill again`);
  return { uri, bytes };
}

/** The skill whose SKILL.md this is, with all its files, each checked. One whose content is made when it is asked for has no list of them. */
export async function readSkill(
  resources: Resources,
  uri: string,
  call: Call,
): Promise<{ readonly skill: Skill; readonly files: readonly CheckedFile[] }> {
  if (!resources.skill) throw invalid("there are no skills here");
  const { skill } = await resources.skill(uri, call);
  const uris = skill.files === "dynamic" ? [skill.uri] : skill.files.map((file) => file.uri);
  const files: CheckedFile[] = [];
  for (const each of uris) files.push(await readSkillFile(resources, skill, each, call));
  return { skill, files };
}
