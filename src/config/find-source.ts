/** Finds the source that a mount names: a built-in one by name, or a custom one by its file or definition. */
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { quote } from "../errors.ts";
import { nearest } from "../lib/nearest.ts";
import type { SourceDefinition } from "../source.ts";
import type { KeyPath, Problem } from "./problem.ts";
import { isPlainObject } from "./references.ts";
import { ProgramError, runProgram } from "./run-program.ts";

export type Registry = Readonly<Record<string, () => Promise<{ readonly default: SourceDefinition }>>>;

export interface SourceFinding {
  readonly registry: Registry;
  /** Base folder of paths. */
  readonly folder: string;
  /** Whether the value came from a reference. */
  isReferred(path: KeyPath): boolean;
  /** Whether this file may run. If not, its mount is left out; the implementation reports that. */
  mayRun(file: string, bytes: Uint8Array, path: KeyPath): boolean;
  refuse(...problems: readonly Problem[]): void;
}

/** Size limit of a source file. */
const maxBytes = 16 * 1024 * 1024;

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
    return ownFile.test(source) ? findOwn(source, at, finding) : refuse(unknownSource(source, at, finding));
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
  if (!finding.mayRun(file, bytes, at)) return undefined;
  try {
    const definition = await runProgram(file, bytes);
    const problem = definitionProblem(definition, finding);
    return problem === undefined ? (definition as SourceDefinition) : refuse(`${quote(source)} ${problem}`);
  } catch (cause) {
    if (cause instanceof ProgramError) return refuse(`${quote(source)} ${cause.message}`);
    throw cause;
  }
}

/** Reads only regular files: a device would never end. */
function readProgram(file: string): Uint8Array | undefined {
  try {
    const stats = statSync(file);
    return stats.isFile() && stats.size <= maxBytes ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  }
}

/** Why a value is not the definition of a source. */
function definitionProblem(value: unknown, { registry }: SourceFinding): string | undefined {
  const wanted = "must be a source made with defineSource";
  if (!isPlainObject(value)) return `${wanted}, as its default export`;
  for (const [key, type] of Object.entries(members))
    if (typeof value[key] !== type) return `${wanted}: its ${quote(key)} is not a ${type}`;
  const { name } = value as { readonly name: string };
  // Trust depends on the names of built-in sources.
  return Object.hasOwn(registry, name) ? `has the name of the built-in source ${quote(name)}; rename it` : undefined;
}

const members = { name: "string", summary: "string", scheme: "string", options: "function", open: "function" } as const;

function unknownSource(source: string, at: KeyPath, finding: SourceFinding): string {
  if (finding.isReferred(at)) return `unknown source; ${oneOf(finding)}`;
  const suggestion = nearest(source, Object.keys(finding.registry));
  return `unknown source ${quote(source, 40)}; ${suggestion ? `did you mean ${quote(suggestion)}?` : oneOf(finding)}`;
}

function oneOf({ registry }: SourceFinding): string {
  return `use one of ${Object.keys(registry).join(", ")}, or your own file (./source.ts)`;
}
