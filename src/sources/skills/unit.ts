/** Reads and checks the files of an outermost skill once; the result is immutable. */
import { notFound, toResourceError } from "../../errors.ts";
import type { ErrorKind } from "../../errors.ts";
import type { Entry, Part, SourceProblem, SourceSkill, SourceSkillFile } from "../../source.ts";
import { readSkillFrontMatter } from "../../backends/skill-front-matter.ts";
import { hold } from "./held.ts";
import type { HeldFile } from "./held.ts";
import { filesBelow, folderOf, isManifest, isSameUnit } from "./list-skill-folder.ts";
import type { SeenUnit } from "./list-skill-folder.ts";
import { checkSkill, maxBytes, maxFiles } from "./rules.ts";

export interface Unit {
  readonly path: string;
  readonly seen: SeenUnit;
  readonly skills: readonly SourceSkill[];
  /** Only files of skills; other files are not served. */
  readonly files: ReadonlyMap<string, HeldFile>;
  /** Total size of these files. */
  readonly bytes: number;
  /** Problems of invalid skills, by the path of their SKILL.md. */
  readonly problems: readonly SourceProblem[];
}

interface SkillFileReader {
  read(path: string): Promise<readonly Part[]>;
  /** How many more bytes may be held in memory. */
  readonly left: number;
}

type Broken = Omit<SourceProblem, "path">;

/** Undefined if something has changed since it was seen. Unchanged files of `before` are not read again. */
export async function readUnit(
  seen: SeenUnit,
  before: Unit | undefined,
  skillFiles: SkillFileReader,
): Promise<Unit | undefined> {
  if (before?.seen.isSettled && seen.isSettled && isSameUnit(before.seen, seen)) return before;
  const held = new Map<string, HeldFile>();
  const skills: SourceSkill[] = [];
  const problems: SourceProblem[] = [];

  async function take(entry: Entry): Promise<HeldFile> {
    const known = held.get(entry.path) ?? before?.files.get(entry.path);
    const isSame = known?.seen !== undefined && known.seen === entry.version;
    const found = isSame ? known : hold(entry, await skillFiles.read(entry.path));
    if (found === undefined) throw notFound(entry.path);
    held.set(entry.path, found);
    return found;
  }

  async function readSkill(manifest: Entry): Promise<SourceSkill | Broken> {
    const folder = folderOf(manifest.path);
    const files = filesBelow(seen.files, folder);
    const tooMuch = excess(files, skillFiles.left);
    if (tooMuch) return tooMuch;
    const [{ body }] = (await take(manifest)).parts;
    if (!("text" in body)) return { says: "is not in UTF-8", advice: "save it in UTF-8" };
    const read = await readSkillFrontMatter(body.text);
    if ("says" in read) return read;
    const verdict = checkSkill(read.fields, folder.slice(folder.lastIndexOf("/") + 1));
    if ("says" in verdict) {
      const { field, ...broken } = verdict;
      return { line: lineOf(field, body.text), ...broken };
    }
    const own: SourceSkillFile[] = [];
    for (const file of files) {
      const { digest, size } = await take(file);
      own.push({ path: file.path, reveals: file.reveals, digest, size });
    }
    const { path, reveals } = manifest;
    return { path, reveals, frontMatter: verdict.frontMatter, files: own };
  }

  for (const manifest of seen.files.filter(isManifest)) {
    try {
      const skill = await readSkill(manifest);
      if ("says" in skill) problems.push({ path: manifest.path, ...skill });
      else skills.push(skill);
    } catch (cause) {
      const { kind } = toResourceError(cause);
      if (movedKinds.has(kind)) return undefined;
      if (kind !== "denied") throw cause;
      problems.push({
        path: manifest.path,
        says: "has files without read permission",
        advice: "check their permissions",
      });
    }
  }
  const files = servedOf(skills, held);
  const bytes = [...files.values()].reduce((sum, { size }) => sum + size, 0);
  return { path: seen.path, seen, skills, files, bytes, problems };
}

/** Errors of a read after the file has changed. */
const movedKinds: ReadonlySet<ErrorKind> = new Set(["not-found", "directory", "too-large"]);

/** The line of a field in the front matter. Undefined if the field is missing, or written in quotes. */
function lineOf(field: string, text: string): number | undefined {
  const lines = text.split("\n");
  const end = lines.findIndex((line, index) => index > 0 && line.startsWith("---"));
  const index = lines.slice(0, end).findIndex((line) => line.startsWith(`${field}:`));
  return index < 0 ? undefined : index + 1;
}

function excess(files: readonly Entry[], left: number): Broken | undefined {
  if (files.length > maxFiles)
    return { says: `belongs to a skill of ${files.length} files`, advice: `hosts accept at most ${maxFiles}` };
  const bytes = files.reduce((sum, { size = 0 }) => sum + size, 0);
  if (bytes > maxBytes)
    return { says: `belongs to a skill of ${bytes} bytes`, advice: `hosts accept at most ${maxBytes}` };
  if (bytes <= left) return undefined;
  return { says: "exceeds the memory limit for skills", advice: "serve fewer, or through several servers" };
}

/** The files of the skills. A SKILL.md is listed under the name in its front matter. */
function servedOf(skills: readonly SourceSkill[], held: ReadonlyMap<string, HeldFile>): Map<string, HeldFile> {
  const served = new Map<string, HeldFile>();
  for (const { files } of skills)
    for (const { path } of files === "dynamic" ? [] : files) served.set(path, held.get(path) as HeldFile);
  for (const { path, frontMatter } of skills) {
    const file = served.get(path) as HeldFile;
    const { name, description } = frontMatter;
    served.set(path, { ...file, entry: { ...file.entry, name, description, mimeType: "text/markdown" } });
  }
  return served;
}
