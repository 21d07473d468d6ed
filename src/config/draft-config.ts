/** Drafts the config that `pressmark init` writes: mounts, and commented suggestions. */
import type { z } from "zod";
import { sources } from "../sources/index.ts";
import { visibleText } from "../lib/visible-text.ts";
import type { Registry } from "./find-source.ts";
import { plainName } from "./load-config.ts";
import { serverSchema } from "./schema.ts";
import type { ProjectFinding } from "./survey.ts";

interface DraftOptions {
  readonly project: string;
  readonly findings: readonly ProjectFinding[];
  /** Served settings files that contain secrets; text mounts then mask them. */
  readonly secretsIn?: readonly string[];
  /** Location of the schema, as written into the config; undefined if there is none that other machines have too. */
  readonly schema: string | undefined;
  readonly registry?: Registry;
}

/** Serves at least what the folder serves without a config: its files, its skills and its git history. */
export async function draftConfig(options: DraftOptions): Promise<string> {
  const { project, findings, secretsIn = [], schema, registry = sources } = options;
  const { z: zod } = await import("zod");
  const skills = findings.filter(({ source }) => source === "skills").map(({ where }) => where);
  const git = findings.find(({ source }) => source === "git");
  const others = findings.filter((finding) => finding !== git && finding.source !== "skills");
  const taken = new Set<string>();
  const isMasked = secretsIn.length > 0;
  const redact: Readonly<Record<string, true>> = isMasked ? { redact: true } : {};
  const masked = isMasked
    ? `\nSecrets in its texts are masked, because these files contain some: ${secretsIn.join(", ")}.`
    : "";
  const whole = `Everything below this folder, except hidden and ignored files and files named like a secret.${masked}`;
  // A repository has the folder's name in its URIs, as without a config.
  const gitName = git && unlike(plainName(project), taken);
  const name = unlike(git ? "files" : plainName(project), taken);
  const blocks = [mount(whole, name, { source: "file", root: ".", ...redact })];
  if (skills.length > 0)
    blocks.push(
      mount("Skills, each complete and with digests, in the form that hosts use.", unlike("skills", taken), {
        source: "skills",
        ...(skills.length === 1 ? { root: skills[0]! } : { roots: skills }),
      }),
    );
  if (git && gitName !== undefined)
    blocks.push(
      mount(`The history of the git repository: branches, commits, and files at any commit.${needed(git)}`, gitName, {
        source: "git",
        ...git.values,
        ...redact,
      }),
    );
  for (const finding of others) {
    const proposed = plainName(finding.name ?? finding.source);
    blocks.push(await proposal(finding, unlike(proposed, taken), { registry, zod, isMasked }));
  }
  return [
    ...(schema === undefined ? [] : [`# yaml-language-server: $schema=${schema}`]),
    "# What Pressmark serves from this folder. A running server applies changes by itself.",
    '# "pressmark doctor" checks it, "pressmark config" shows it with all defaults.',
    "",
    "mounts:",
    blocks.map((block) => indented(block)).join("\n\n"),
    "",
    server(zod),
    "",
  ].join("\n");
}

/** A line on what a mount needs. */
function needed({ needs }: ProjectFinding): string {
  return needs === undefined ? "" : `\nNeeds ${visibleText(needs)}.`;
}

type Value = string | true | readonly string[];

function mount(says: string, name: string, values: Readonly<Record<string, Value>>): string {
  const lines = Object.entries(values).map(([key, value]) => `  ${key}: ${formatValue(value)}`);
  return [comment(says), `${format(name)}:`, ...lines].join("\n");
}

/**
 * A mount of an existing source, with its required options. What is complete but may be absent on other machines is served where it is
 * there; the rest is a comment.
 */
async function proposal(
  finding: ProjectFinding,
  name: string,
  { registry, zod, isMasked }: { readonly registry: Registry; readonly zod: typeof z; readonly isMasked: boolean },
): Promise<string> {
  const { what, where, source, values, needs, showsTexts = false } = finding;
  const { default: definition } = await registry[source]!();
  const json = zod.toJSONSchema(definition.options(zod), { io: "input", unrepresentable: "any" });
  const required = json.required ?? [];
  const isComplete = required.every((key) => Object.hasOwn(values, key));
  const isActive = needs !== undefined && isComplete;
  const lines = Object.entries(json.properties ?? {}).flatMap(([key, option]) => {
    const value = values[key];
    if (value === undefined && !required.includes(key)) return [];
    const description = typeof option === "object" ? option.description : undefined;
    return [
      [
        `  ${key}:`,
        ...(value === undefined ? [] : [formatValue(value)]),
        ...(description ? [`# ${description}`] : []),
      ].join(" "),
    ];
  });
  const says = `${capital(what)} (${visibleText(where)}): ${definition.summary}.${needed(finding)}`;
  const block = [
    `${format(name)}:`,
    `  source: ${source}`,
    ...lines,
    ...(isActive ? ["  optional: true"] : []),
    ...(isMasked && showsTexts ? ["  redact: true"] : []),
  ].join("\n");
  return isActive ? `${comment(says)}\n${block}` : comment(says, block);
}

function server(zod: typeof z): string {
  const { properties = {} } = zod.toJSONSchema(serverSchema(zod));
  const examples: Readonly<Record<string, string>> = { host: "127.0.0.1", port: "7357" };
  const lines = Object.entries(examples).map(([key, example]) => {
    const option = properties[key];
    return `#   ${key}: ${example} # ${typeof option === "object" ? option.description : ""}`;
  });
  return ["# server:", ...lines].join("\n");
}

function comment(says: string, ...blocks: readonly string[]): string {
  return [says, ...blocks]
    .join("\n")
    .split("\n")
    .map((line) => `# ${line}`)
    .join("\n");
}

function indented(block: string): string {
  return block
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
}

function unlike(name: string, taken: Set<string>): string {
  let free = name;
  for (let count = 2; taken.has(free); count += 1) free = `${name}-${count}`;
  taken.add(free);
  return free;
}

function formatValue(value: Value): string {
  if (value === true) return "true";
  return typeof value === "string" ? format(value) : `[${value.map(format).join(", ")}]`;
}

/** Unquoted if YAML reads it as the same text. */
function format(text: string): string {
  const isPlain =
    /^[\p{L}./][\p{L}\p{N}._/-]*$/u.test(text) && !/^(?:true|false|null|yes|no|on|off|\.inf|\.nan)$/i.test(text);
  return isPlain ? text : JSON.stringify(text);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
