/** Checks the mounts of a config against the options of their sources. */
import type { z } from "zod";
import { quote } from "../errors.ts";
import { describeThrown } from "../lib/describe-thrown.ts";
import { nearest } from "../lib/nearest.ts";
import { onOneLine } from "../lib/on-one-line.ts";
import type { SourceDefinition } from "../source.ts";
import { check, type Checked, type CheckOptions, declaredNames, isClosed, unknownKey } from "./check.ts";
import type { MountConfig } from "./config.ts";
import { mountNamePattern, reservedSchemes } from "./mount-base.ts";
import { findSource, type SourceFinding } from "./find-source.ts";
import type { KeyPath, Problem } from "./problem.ts";
import { isPlainObject } from "./references.ts";
import { type Limits, mountSchema } from "./schema.ts";

interface MountChecking extends CheckOptions, SourceFinding {
  readonly folder: string;
  isReferred(path: KeyPath): boolean;
  /** Limits for all mounts. */
  readonly limits: Limits | undefined;
  readonly redact: boolean | undefined;
}

/** Returns the valid mounts, and reports all problems of the others. */
export async function checkMounts(
  given: Readonly<Record<string, unknown>>,
  options: MountChecking,
): Promise<MountConfig[]> {
  const mounts: MountConfig[] = [];
  for (const [name, settings] of Object.entries(given)) {
    const at = ["mounts", name];
    if (!mountNamePattern.test(name))
      options.refuse({
        path: at,
        atKey: true,
        message:
          "a mount's name must begin with a letter or digit and may contain letters, digits, dots, dashes and underscores, at most 64 characters",
      });
    const isObject = takeChecked(check(options.zod.looseObject({}), settings, at, options), options.refuse);
    if (!isObject || !isPlainObject(settings)) continue;
    try {
      const mount = await checkMount(name, settings, at, options);
      if (mount) mounts.push(mount);
    } catch (cause) {
      // A fault of a custom source is none of the other mounts.
      options.refuse({ path: [...at, "source"], message: `cannot be checked: ${describeThrown(cause)}` });
    }
  }
  return mounts;
}

async function checkMount(
  name: string,
  settings: Readonly<Record<string, unknown>>,
  at: KeyPath,
  options: MountChecking,
): Promise<MountConfig | undefined> {
  const { zod, refuse } = options;
  const common = mountSchema(zod);
  const commonNames = declaredNames(common, zod);
  const definition = await findSource(settings["source"], [...at, "source"], options);
  if (!definition) {
    // The options of an unknown source are unknown, but a misspelt "source" is not one of them.
    if (settings["source"] === undefined)
      for (const key of Object.keys(settings))
        if (nearest(key, commonNames) === "source") refuse(unknownKey([...at, key], commonNames));
    return undefined;
  }

  const own = optionsOf(definition, zod);
  if (!own) {
    refuse({
      path: [...at, "source"],
      message: `has no valid "options": they must return a schema made with the zod that they get`,
    });
    return undefined;
  }
  const ownNames = declaredNames(own, zod);
  const [forMount, rest] = split(settings, commonNames);
  const [forSource, strange] = ownNames.length > 0 || isClosed(own, zod) ? split(rest, ownNames) : [rest, {}];
  for (const key of Object.keys(strange)) refuse(unknownKey([...at, key], [...ownNames, ...commonNames]));

  for (const path of literalsOf(forSource, at, false, definition.referencesOnly ?? [], options))
    refuse({ path, message: "is a secret; write it as a reference, such as ${env:NAME} or ${file:path}" });
  const mount = takeChecked(check(common, { ...forMount, source: definition.name }, at, options), refuse);
  const checked = takeChecked(check(own, forSource, at, options), refuse);
  if (!mount || !checked) return undefined;
  const isCustom = !Object.hasOwn(options.registry, definition.name);
  if (isCustom && mount.value.scheme === undefined) {
    const problem = basesProblem(definition, checked.value);
    if (problem !== undefined) {
      refuse({ path: [...at, "source"], message: problem });
      return undefined;
    }
  }
  for (const key of ["title", "description"])
    if (options.isReferred([...at, key]))
      refuse({ path: [...at, key], message: "is shown to clients, so it must not contain a reference" });
  const { source: _source, limits, redact = options.redact, title, description, ...more } = mount.value;
  return {
    ...more,
    ...(redact && { redact }),
    // A text without visible characters is as good as none.
    title: onOneLine(title ?? "") || undefined,
    description: onOneLine(description ?? "") || undefined,
    name,
    definition,
    options: checked.value,
    limits: { ...options.limits, ...limits },
    ...(holdsReference(settings, at, options) && { isReferred: true }),
  };
}

/** Undefined if the function of a custom source fails, or returns something else. */
function optionsOf(definition: SourceDefinition, zod: MountChecking["zod"]): z.ZodType | undefined {
  try {
    const schema: unknown = definition.options(zod);
    return typeof schema === "object" && schema !== null && "_zod" in schema ? (schema as z.ZodType) : undefined;
  } catch {
    return undefined;
  }
}

/** Why a custom source cannot answer for the URIs that it claims. */
function basesProblem(definition: SourceDefinition, options: unknown): string | undefined {
  const own: unknown = definition.base?.(options) ?? [];
  const others: unknown = definition.aliases?.(options) ?? [];
  if (!Array.isArray(others)) return `has "aliases" that return no list of URI prefixes`;
  for (const base of [own, others].flat() as readonly unknown[]) {
    if (typeof base !== "string") return `has a "base" or "aliases" that return no URI prefix`;
    const [scheme = ""] = base.split(":", 1);
    if (reservedSchemes.has(scheme.toLowerCase()))
      return `answers for ${quote(base)}, but the scheme ${quote(scheme)} is reserved; use another`;
  }
  return undefined;
}

/** Paths of texts below these options that are written in the config itself. */
function literalsOf(
  value: unknown,
  at: KeyPath,
  isSecret: boolean,
  names: readonly string[],
  options: Pick<MountChecking, "isReferred">,
): KeyPath[] {
  if (typeof value === "string") return isSecret && !options.isReferred(at) ? [at] : [];
  if (typeof value !== "object" || value === null || names.length === 0) return [];
  return Object.entries(value).flatMap(([key, each]) => {
    const step = Array.isArray(value) ? Number(key) : key;
    return literalsOf(each, [...at, step], isSecret || names.includes(key), names, options);
  });
}

function holdsReference(value: unknown, at: KeyPath, options: Pick<MountChecking, "isReferred">): boolean {
  if (typeof value !== "object" || value === null) return options.isReferred(at);
  return Object.entries(value).some(([key, each]) =>
    holdsReference(each, [...at, Array.isArray(value) ? Number(key) : key], options),
  );
}

/** The checked value, or undefined after reporting its problems. */
export function takeChecked<T>(
  answer: Checked<T>,
  refuse: (...problems: readonly Problem[]) => void,
): { readonly value: T } | undefined {
  if ("value" in answer) return answer;
  for (const problem of answer.problems) refuse(problem);
  return undefined;
}

function split(
  settings: Readonly<Record<string, unknown>>,
  names: readonly string[],
): [Record<string, unknown>, Record<string, unknown>] {
  const entries = Object.entries(settings);
  return [
    Object.fromEntries(entries.filter(([key]) => names.includes(key))),
    Object.fromEntries(entries.filter(([key]) => !names.includes(key))),
  ];
}
