/** The source that a mount names: one of this package by name, or one of the person's own by its file or as it is. */
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
  /** What a path is relative to. */
  readonly folder: string;
  /** Whether the value came from a reference. */
  isReferred(path: KeyPath): boolean;
  /** Whether this file may be run. What may not is left out, and said by whoever answers. */
  mayRun(file: string, bytes: Uint8Array, path: KeyPath): boolean;
  refuse(...problems: readonly Problem[]): void;
}

/** More is no source that someone wrote. */
const maxBytes = 16 * 1024 * 1024;

/** As it is written in a config: `./weather.ts`, never a bare name. */
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
  if (!bytes) return refuse(`there is no ${quote(source)} that can be read; check the path`);
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

/** A device that a link leads to would never end. */
function readProgram(file: string): Uint8Array | undefined {
  try {
    const stats = statSync(file);
    return stats.isFile() && stats.size <= maxBytes ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  }
}

/** What keeps a value from being the definition of a source. */
function definitionProblem(value: unknown, { registry }: SourceFinding): string | undefined {
  const wanted = "must be what defineSource gives";
  if (!isPlainObject(value)) return `${wanted}, as its default export`;
  for (const [key, type] of Object.entries(members))
    if (typeof value[key] !== type) return `${wanted}: its ${quote(key)} is no ${type}`;
  const { name } = value as { readonly name: string };
  // What a name promises, trust included, is promised for our own.
  return Object.hasOwn(registry, name) ? `is named ${quote(name)}, as one of Pressmark's own; rename it` : undefined;
}

const members = { name: "string", summary: "string", scheme: "string", options: "function", open: "function" } as const;

function unknownSource(source: string, at: KeyPath, finding: SourceFinding): string {
  if (finding.isReferred(at)) return `unknown source; ${oneOf(finding)}`;
  const meant = nearest(source, Object.keys(finding.registry));
  return `unknown source ${quote(source, 40)}; ${meant ? `did you mean ${quote(meant)}?` : oneOf(finding)}`;
}

function oneOf({ registry }: SourceFinding): string {
  return `it is one of ${Object.keys(registry).join(", ")}, or a file of your own (./source.ts)`;
}
