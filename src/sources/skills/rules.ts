/** The rules of the Agent Skills format: https://agentskills.io/specification */
import { quote } from "../../errors.ts";
import type { FrontMatter } from "../../resources.ts";

/** Limits that every host accepts: https://github.com/modelcontextprotocol/ext-skills */
export const maxFiles = 512;
export const maxBytes = 16 * 1024 * 1024;

const maxName = 64;
const maxDescription = 1024;
const maxCompatibility = 500;
/** Hosts reject a whole list for one invalid name, so other scripts are allowed only in titles and texts. */
const namePattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** What is wrong, as text that completes "SKILL.md …". */
type SkillCheck = { readonly frontMatter: FrontMatter } | { readonly says: string; readonly advice?: string };

export function checkSkill(fields: Readonly<Record<string, unknown>>, folder: string): SkillCheck {
  const { name, description, license, compatibility, metadata, "allowed-tools": allowed } = fields;
  if (typeof name !== "string" || name === "") return { says: "has no name", advice: `write name: ${folder}` };
  if (name.length > maxName || !namePattern.test(name))
    return {
      says: `has the name ${quote(name)}`,
      advice: `a name consists of a-z, 0-9 and single hyphens between them, at most ${maxName} characters`,
    };
  if (name !== folder)
    return {
      says: `has the name ${quote(name)}, but is in the folder ${quote(folder)}`,
      advice: "give both the same name",
    };
  if (!isText(description, maxDescription))
    return { says: "has no description", advice: `write one of at most ${maxDescription} characters` };
  if (license !== undefined && typeof license !== "string") return { says: "has a license that is not text" };
  if (compatibility !== undefined && !isText(compatibility, maxCompatibility))
    return { says: `has a compatibility that is not text of at most ${maxCompatibility} characters` };
  if (metadata !== undefined && !isTexts(metadata))
    return { says: "has metadata values that are not text", advice: 'put numbers and dates in quotes: version: "1.0"' };
  if (allowed !== undefined && typeof allowed !== "string" && !(Array.isArray(allowed) && allowed.every(isString)))
    return { says: "has allowed-tools that are neither text nor a list of texts" };
  return { frontMatter: fields as FrontMatter };
}

function isText(value: unknown, most: number): value is string {
  // Counted in characters; a text has at least half as many as UTF-16 code units.
  return isString(value) && value.trim() !== "" && value.length <= 2 * most && [...value].length <= most;
}

function isTexts(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(isString);
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}
