/** Checks the callers and access rules of a config. */
import { sep } from "node:path";
import type { QuotaSettings } from "../access/quotas.ts";
import type { AccessRule } from "../access/rules.ts";
import { quote } from "../errors.ts";
import { createGlob, GlobError } from "../lib/glob.ts";
import { realPath } from "../lib/real-path.ts";
import { nearest } from "../lib/nearest.ts";
import type { KeyPath, Problem } from "./problem.ts";
import type { CallerSettings, RuleSettings } from "./schema.ts";
import { isSetName } from "./sets.ts";

export interface CallerConfig extends CallerSettings {
  readonly name: string;
}

export interface AccessSettings {
  readonly callers: readonly CallerConfig[];
  readonly rules: readonly AccessRule[];
}

interface AccessCheck {
  /** Folder of the config. */
  readonly folder: string;
  /** Names of all mounts of the config. */
  readonly mounts: readonly string[];
  /** True if callers besides those of the config may come: a program names its own. */
  readonly hasOtherCallers?: boolean;
  isReferred(path: KeyPath): boolean;
  refuse(problem: Problem): void;
}

/** Callers that a server knows without a config: a caller of the same name would share their sets and sessions. */
const reserved: ReadonlySet<string> = new Set(["anonymous", "local", "owner", "picker", "pressmark", "status"]);
const subjectForms = '"anyone", "caller:NAME", "group:NAME", "scope:NAME" or "claim:NAME=VALUE"';

/** Callers that may have quotas although no config names them. */
const builtInCallers = ["anonymous", "local", "owner"];

export function checkQuotas(
  quotas: QuotaSettings,
  callers: readonly string[],
  { refuse }: Pick<AccessCheck, "refuse">,
): void {
  for (const subject of Object.keys(quotas)) {
    const message = subjectProblem(subject, [...callers, ...builtInCallers]);
    if (message !== undefined) refuse({ path: ["quotas", subject], atKey: true, message });
  }
}

/** Reports every problem: a rule that is left out would show what it hides. */
export function checkAccess(
  callers: Readonly<Record<string, CallerSettings>>,
  rules: readonly RuleSettings[],
  { folder, mounts, hasOtherCallers = false, isReferred, refuse }: AccessCheck,
): AccessSettings {
  const names = Object.keys(callers);
  for (const name of names)
    if (reserved.has(name))
      refuse({
        path: ["callers", name],
        atKey: true,
        message: "is a name that the server uses itself; choose another",
      });
    else if (!isSetName(name))
      refuse({
        path: ["callers", name],
        atKey: true,
        message:
          "a caller's name must begin with a letter or digit and may contain letters, digits, dots, dashes and underscores, at most 64 characters",
      });
  for (const [index, rule] of rules.entries()) {
    const at = ["rules", index];
    if ((rule.allow === undefined) === (rule.deny === undefined))
      refuse({ path: at, message: 'must have either "allow" or "deny"' });
    if (rule.write && rule.deny) refuse({ path: [...at, "write"], message: 'works only with "allow"' });
    if (rule.write && (rule.paths || rule.files))
      refuse({ path: [...at, "write"], message: "holds for whole mounts; write it in a rule without paths and files" });
    for (const who of ["allow", "deny"] as const)
      for (const [number, subject] of (rule[who] ?? []).entries()) {
        const message = isReferred([...at, who, number])
          ? "must not contain a reference: rules are read by people"
          : subjectProblem(subject, hasOtherCallers ? undefined : names);
        if (message !== undefined) refuse({ path: [...at, who, number], message });
      }
    for (const [number, mount] of (rule.mounts ?? []).entries())
      if (!mounts.includes(mount))
        refuse({
          path: [...at, "mounts", number],
          message: `there is no mount ${quote(mount)}; ${suggest(mount, mounts)}`,
        });
    if (rule.files && (rule.mounts || rule.paths))
      refuse({
        path: [...at, "files"],
        message: 'holds in every mount, so it cannot be combined with "mounts" or "paths"',
      });
    for (const key of ["paths", "files"] as const)
      for (const [number, pattern] of (rule[key] ?? []).entries()) {
        const message = patternProblem(pattern);
        if (message !== undefined) refuse({ path: [...at, key, number], message });
      }
  }
  const root = literal(realPath(folder));
  return {
    callers: Object.entries(callers).map(([name, settings]) => ({ name, ...settings })),
    rules: rules.map((rule) => ({ ...rule, files: rule.files?.map((pattern) => `${root}/${pattern}`) })),
  };
}

/** Without `callers`, any may be named. */
function subjectProblem(subject: string, callers: readonly string[] | undefined): string | undefined {
  if (subject === "anyone" || /^(?:group|scope):.|^claim:[^=]+=./su.test(subject)) return undefined;
  if (!callers && /^caller:./su.test(subject)) return undefined;
  if (!subject.startsWith("caller:")) return `${quote(subject, 60)} names nobody; write ${subjectForms}`;
  const name = subject.slice("caller:".length);
  return callers?.includes(name) ? undefined : `there is no caller ${quote(name, 60)}; ${suggest(name, callers ?? [])}`;
}

function patternProblem(pattern: string): string | undefined {
  if (pattern.startsWith("/") || pattern.endsWith("/"))
    return 'must not begin or end with a slash; "secrets" covers everything below it';
  if (pattern.split("/").some((name) => name === "" || name === "." || name === ".."))
    return 'must not contain "." or "..", or two slashes in a row';
  try {
    createGlob(pattern);
    return undefined;
  } catch (cause) {
    if (cause instanceof GlobError) return `cannot be used as a pattern: ${cause.message}`;
    throw cause;
  }
}

/** A path as a pattern that matches only itself. */
function literal(path: string): string {
  return path.replaceAll(sep, "/").replaceAll(/[*?[\]{},\\]/g, "\\$&");
}

function suggest(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  if (meant !== undefined) return `did you mean ${quote(meant)}?`;
  return known.length === 0 ? "none is configured" : `use one of ${known.join(", ")}`;
}
