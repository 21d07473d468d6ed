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

/** What is wrong, as text that completes "SKILL.md …", and in which field. */
type SkillCheck =
  | { readonly frontMatter: FrontMatter }
  | { readonly field: string; readonly says: string; readonly advice?: string };

export function checkSkill(fields: Readonly<Record<string, unknown>>, folder: string): SkillCheck {
  const { name, description, license, compatibility, metadata, "allowed-tools": allowed } = fields;
  if (typeof name !== "string" || name === "")
    return { field: "name", says: "has no name", advice: nameAdvice(folder) };
  if (!isName(name))
    return { field: "name", says: `has the name ${quote(name)}, which is not allowed`, advice: nameAdvice(folder) };
  if (name !== folder)
    return {
      field: "name",
      says: `has the name ${quote(name)}, but is in the folder ${quote(folder)}`,
      advice: `${isName(folder) ? `write "name: ${folder}", or ` : ""}rename the folder to ${quote(name)}`,
    };
  if (!isText(description, maxDescription))
    return {
      field: "description",
      says: "has no description",
      advice: `write one of at most ${maxDescription} characters`,
    };
  if (license !== undefined && typeof license !== "string")
    return { field: "license", says: "has a license that is not text" };
  if (compatibility !== undefined && !isText(compatibility, maxCompatibility))
    return {
      field: "compatibility",
      says: `has a compatibility that is not text of at most ${maxCompatibility} characters`,
    };
  if (metadata !== undefined && !isTexts(metadata))
    return {
      field: "metadata",
      says: "has metadata values that are not text",
      advice: 'put numbers and dates in quotes: version: "1.0"',
    };
  if (allowed !== undefined && typeof allowed !== "string" && !(Array.isArray(allowed) && allowed.every(isString)))
    return { field: "allowed-tools", says: "has allowed-tools that are neither text nor a list of texts" };
  return { frontMatter: fields as FrontMatter };
}

/** How to name a skill whose name is missing or invalid. */
function nameAdvice(folder: string): string {
  if (isName(folder)) return `write "name: ${folder}", the name of its folder`;
  return `rename the folder ${quote(folder)}, and write the same name: a-z, 0-9 and single hyphens between them, at most ${maxName} characters`;
}

function isName(text: string): boolean {
  return text.length <= maxName && namePattern.test(text);
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
