/** Separates problems of single mounts, which are then left out, from problems of the whole config. */
import type { FaultyMount } from "./config.ts";
import type { Registry } from "./find-source.ts";
import type { Problem } from "./problem.ts";
import { isPlainObject } from "./references.ts";
import { mountBase, mountNamePattern, schemePattern } from "./mount-base.ts";

/** Problems by the name of their mount. */
export function problemsByMount(problems: readonly Problem[]): ReadonlyMap<string, readonly Problem[]> {
  const byMount = new Map<string, Problem[]>();
  for (const problem of problems) {
    const name = mountOf(problem);
    if (name === undefined) continue;
    const known = byMount.get(name);
    if (known) known.push(problem);
    else byMount.set(name, [problem]);
  }
  return byMount;
}

/** The mount that a problem is about; undefined for a problem of the whole config. */
export function mountOf({ path: [section, name] }: Problem): string | undefined {
  return section === "mounts" && typeof name === "string" ? name : undefined;
}

interface FaultyMountInput {
  readonly problems: readonly Problem[];
  readonly settings: unknown;
  readonly registry: Registry;
  /** `redact` for all mounts. */
  readonly redact: boolean | undefined;
  linesOf(problems: readonly Problem[]): readonly string[];
}

export async function toFaultyMount(
  name: string,
  { problems, settings, registry, redact, linesOf }: FaultyMountInput,
): Promise<FaultyMount> {
  const written = isPlainObject(settings) ? settings : {};
  return {
    name,
    problems: linesOf(problems),
    isExpected: written["optional"] === true && problems.every(({ isAbsence }) => isAbsence),
    base: await knownBase(name, written, registry),
    redact: (written["redact"] ?? redact ?? false) !== false,
  };
}

/** The URI prefix, if it does not depend on options: those may be invalid. */
async function knownBase(
  name: string,
  { scheme, source }: Readonly<Record<string, unknown>>,
  registry: Registry,
): Promise<string | undefined> {
  if (!mountNamePattern.test(name)) return undefined;
  if (scheme !== undefined)
    return typeof scheme === "string" && schemePattern.test(scheme) ? mountBase(scheme, name) : undefined;
  if (typeof source !== "string" || !Object.hasOwn(registry, source)) return undefined;
  const { default: definition } = await registry[source]!();
  return definition.base ? undefined : mountBase(definition.scheme, name);
}
