/** Finds the source that a mount names: a built-in one by name, or a custom one by its file, package or definition. */
import { resolve } from "node:path";
import { quote } from "../errors.ts";
import { nearest } from "../lib/nearest.ts";
import { statsOf } from "../lib/stats-of.ts";
import type { SourceDefinition } from "../source.ts";
import {
  findPackage,
  packageDigest,
  PackageError,
  type PackageSpecifier,
  parsePackage,
  type SourcePackage,
} from "./find-package.ts";
import { reservedSchemes, schemePattern } from "./mount-base.ts";
import type { KeyPath, Problem } from "./problem.ts";
import { UnboundProgram } from "./program-files.ts";
import { isPlainObject } from "./references.ts";
import { ProgramError, readProgram, runPackage, runProgram } from "./run-program.ts";

export type Registry = Readonly<Record<string, () => Promise<{ readonly default: SourceDefinition }>>>;

export interface SourceFinding {
  readonly registry: Registry;
  /** Base folder of paths. */
  readonly folder: string;
  /** Whether the value came from a reference. */
  isReferred(path: KeyPath): boolean;
  /** Whether this file, or the package that begins with it, may run. If not, its mount is left out; the implementation reports that. */
  mayRun(file: string, bytes: Uint8Array, path: KeyPath, of?: SourcePackage): boolean;
  refuse(...problems: readonly Problem[]): void;
}

/** A path such as `./weather.ts`, never a bare name. */
const ownFile = /^\.{0,2}\/.*\.(?:[cm]?js|[cm]?ts)$/;

export async function findSource(
  source: unknown,
  at: KeyPath,
  finding: SourceFinding,
): Promise<SourceDefinition | undefined> {
  const refuse = (message: string): undefined => void finding.refuse({ path: at, message });
  if (typeof source === "string") {
    if (Object.hasOwn(finding.registry, source)) return (await finding.registry[source]!()).default;
    if (ownFile.test(source)) return findOwn(source, at, finding);
    const specifier = parsePackage(source);
    return specifier ? findForeign(source, specifier, at, finding) : refuse(unknownSource(source, at, finding));
  }
  if (source === undefined || source === null) return refuse(`is missing; ${oneOf(finding)}`);
  const problem = definitionProblem(source, finding);
  return problem === undefined
    ? (source as SourceDefinition)
    : refuse(isPlainObject(source) ? problem : `unknown source; ${oneOf(finding)}`);
}

async function findOwn(source: string, at: KeyPath, finding: SourceFinding): Promise<SourceDefinition | undefined> {
  const refuse = (message: string): undefined => void finding.refuse({ path: at, message });
  const file = resolve(finding.folder, source);
  const bytes = readProgram(file);
  if (!bytes) return refuse(`${quote(source)} cannot be read; check the path`);
  return finding.mayRun(file, bytes, at) ? define(() => runProgram(file, bytes), source, at, finding) : undefined;
}

/** A package is looked at again after it has run: an installation may have replaced it meanwhile. */
async function findForeign(
  source: string,
  specifier: PackageSpecifier,
  at: KeyPath,
  finding: SourceFinding,
): Promise<SourceDefinition | undefined> {
  const look = () => findPackage(specifier, finding.folder);
  const mayRun = (each: SourcePackage) => finding.mayRun(each.entry, each.content, at, each);
  try {
    const found = look();
    if (!mayRun(found)) return undefined;
    const definition = await define(() => runPackage(found.entry, stateOf(found)), source, at, finding);
    return definition && mayRun(look()) ? definition : undefined;
  } catch (cause) {
    if (!(cause instanceof PackageError)) throw cause;
    const { isAbsence } = cause;
    const other = isAbsence ? meantSource(source, at, finding) : undefined;
    finding.refuse({ path: at, message: other ?? `the package ${quote(source)} ${cause.message}`, isAbsence });
    return undefined;
  }
}

/** Tells two states of a package apart. One that is too large for a digest can run only in a config that the user named. */
function stateOf(found: SourcePackage): string {
  try {
    return packageDigest(found);
  } catch (cause) {
    if (cause instanceof UnboundProgram) return found.version;
    throw cause;
  }
}

/** What was probably intended by the name of a package that is not installed. */
function meantSource(source: string, at: KeyPath, finding: SourceFinding): string | undefined {
  if (finding.isReferred(at)) return undefined;
  const file = `./${source}`;
  if (!ownFile.test(file) || !statsOf(resolve(finding.folder, file))?.isFile()) return undefined;
  return `unknown source ${quote(source, 40)}; did you mean ${quote(file)}?`;
}

/** Runs a custom source, and checks its definition. */
async function define(
  run: () => Promise<unknown>,
  source: string,
  at: KeyPath,
  finding: SourceFinding,
): Promise<SourceDefinition | undefined> {
  const refuse = (message: string): undefined => void finding.refuse({ path: at, message });
  try {
    const definition = await run();
    const problem = definitionProblem(definition, finding);
    return problem === undefined ? (definition as SourceDefinition) : refuse(`${quote(source)} ${problem}`);
  } catch (cause) {
    if (cause instanceof ProgramError) return refuse(`${quote(source)} ${cause.message}`);
    throw cause;
  }
}

/** Why a value is not the definition of a source. */
function definitionProblem(value: unknown, { registry }: SourceFinding): string | undefined {
  const wanted = "must be a source made with defineSource";
  if (!isPlainObject(value)) return `${wanted}, as its default export`;
  for (const [key, type] of Object.entries(members))
    if (typeof value[key] !== type) return `${wanted}: its ${quote(key)} is not a ${type}`;
  for (const [key, type] of Object.entries(optionalMembers))
    if (value[key] !== undefined && typeof value[key] !== type) return `${wanted}: its ${quote(key)} is not a ${type}`;
  const { name, scheme, referencesOnly = [] } = value as unknown as SourceDefinition;
  if (!schemePattern.test(scheme))
    return `${wanted}: its "scheme" is ${quote(scheme, 40)}, which is no scheme of a URI`;
  if (reservedSchemes.has(scheme)) return `has the scheme ${quote(scheme)}, which is reserved; use another`;
  if (!Array.isArray(referencesOnly) || referencesOnly.some((option) => typeof option !== "string"))
    return `${wanted}: its "referencesOnly" is not a list of names`;
  // Trust depends on the names of built-in sources.
  return Object.hasOwn(registry, name) ? `has the name of the built-in source ${quote(name)}; rename it` : undefined;
}

const members = { name: "string", summary: "string", scheme: "string", options: "function", open: "function" } as const;
const optionalMembers = {
  searchable: "boolean",
  openedOnce: "boolean",
  verbatim: "boolean",
  base: "function",
  aliases: "function",
  usesCredentials: "function",
  detect: "function",
} as const;

function unknownSource(source: string, at: KeyPath, finding: SourceFinding): string {
  if (finding.isReferred(at)) return `unknown source; ${oneOf(finding)}`;
  const suggestion = nearest(source, Object.keys(finding.registry));
  return `unknown source ${quote(source, 40)}; ${suggestion ? `did you mean ${quote(suggestion)}?` : oneOf(finding)}`;
}

function oneOf({ registry }: SourceFinding): string {
  return `use one of ${Object.keys(registry).join(", ")}, your own file (./source.ts), or a package (pressmark-source-…)`;
}
