/** Checks values against a schema and reports all problems: unknown names, wrong types, invalid paths and numbers. */
import { resolve } from "node:path";
import type { z } from "zod";
import { quote } from "../errors.ts";
import { depthOf, describeIssue, meantBranch } from "../lib/describe-issue.ts";
import { nearest } from "../lib/nearest.ts";
import type { KeyPath, Problem } from "./problem.ts";
import { isPlainObject } from "./references.ts";

export interface CheckOptions {
  readonly zod: typeof z;
  /** Base folder of paths. */
  readonly folder: string;
  /** Whether the value came from a reference, which is always a text. */
  isReferred(path: KeyPath): boolean;
  /** Called with every option that is a path, resolved. */
  sawPath?(file: string, path: KeyPath): void;
}

export type Checked<T> = { readonly value: T } | { readonly problems: readonly Problem[] };

type Schema = z.core.$ZodType;

/** Marks an option as a path: `.meta({ format: "path" })`. */
const pathFormat = "path";

export function check<T>(schema: z.ZodType<T>, given: unknown, at: KeyPath, options: CheckOptions): Checked<T> {
  const problems: Problem[] = [];
  const { zod } = options;

  /** Resolves paths, and converts texts from references to numbers or booleans where the schema expects them. */
  function prepare(declared: Schema, value: unknown, path: KeyPath): unknown {
    const { inner, isPath } = unwrap(declared, zod);
    const { def } = inner._zod;
    switch (def.type) {
      case "object":
        if (!isPlainObject(value)) return value;
        return Object.fromEntries(
          Object.entries(value).flatMap(([key, each]) => {
            const shape = Object.hasOwn(def.shape, key) ? def.shape[key] : undefined;
            if (shape) return [[key, prepare(shape, each, [...path, key])]];
            if (def.catchall && def.catchall._zod.def.type !== "never") return [[key, each]];
            problems.push(unknownKey([...path, key], Object.keys(def.shape)));
            return [];
          }),
        );
      case "record":
        if (!isPlainObject(value)) return value;
        return Object.fromEntries(
          Object.entries(value).map(([key, each]) => [key, prepare(def.valueType, each, [...path, key])]),
        );
      case "array":
        return Array.isArray(value) ? value.map((each, index) => prepare(def.element, each, [...path, index])) : value;
      case "union": {
        const kind = isPlainObject(value) ? ["object", "record"] : Array.isArray(value) ? ["array"] : [];
        const fitting = def.options.find((option) => kind.includes(unwrap(option, zod).inner._zod.def.type));
        return fitting ? prepare(fitting, value, path) : value;
      }
      case "string":
        if (!isPath || typeof value !== "string" || value === "") return value;
        options.sawPath?.(resolve(options.folder, value), path);
        return resolve(options.folder, value);
      case "number":
        return typeof value === "string" &&
          options.isReferred(path) &&
          value.trim() !== "" &&
          Number.isFinite(Number(value))
          ? Number(value)
          : value;
      case "boolean":
        return (value === "true" || value === "false") && options.isReferred(path) ? value === "true" : value;
      default:
        return value;
    }
  }

  const prepared = prepare(schema, given, at);
  const parsed = schema.safeParse(prepared);
  if (!parsed.success)
    for (const issue of parsed.error.issues) problems.push(...toProblems(issue, prepared, at, options));
  return parsed.success && problems.length === 0 ? { value: parsed.data } : { problems };
}

export function unknownKey(path: KeyPath, known: readonly string[]): Problem {
  const key = String(path.at(-1));
  const meant = nearest(
    key,
    known.filter((name) => !isOpposite(key, name)),
  );
  const names = known.filter((name) => !name.startsWith("$"));
  const otherwise = names.length > 0 ? `use one of ${names.join(", ")}` : "there are none here, so remove it";
  return {
    path,
    atKey: true,
    ...(meant && { meant: [...path.slice(0, -1), meant] }),
    message: `unknown option; ${meant ? `did you mean ${quote(meant)}?` : otherwise}`,
  };
}

/** Beginnings of names that are spelt alike and mean the opposite. */
const opposites = [
  ["include", "exclude"],
  ["enable", "disable"],
  ["allow", "disallow"],
  ["min", "max"],
  ["import", "export"],
] as const;

function isOpposite(key: string, name: string): boolean {
  const [one, other] = [key.toLowerCase(), name.toLowerCase()];
  return opposites.some(
    ([left, right]) =>
      (one.startsWith(left) && other.startsWith(right)) || (one.startsWith(right) && other.startsWith(left)),
  );
}

/** The keys of an object schema; empty for other schemas. */
export function declaredNames(schema: z.ZodType, zod: typeof z): readonly string[] {
  const { def } = unwrap(schema, zod).inner._zod;
  return def.type === "object" ? Object.keys(def.shape) : [];
}

/** Whether it is an object schema that allows no other keys than it declares. */
export function isClosed(schema: z.ZodType, zod: typeof z): boolean {
  const { def } = unwrap(schema, zod).inner._zod;
  return def.type === "object" && (!def.catchall || def.catchall._zod.def.type === "never");
}

function unwrap(schema: Schema, zod: typeof z): { readonly inner: z.core.$ZodTypes; readonly isPath: boolean } {
  let inner = schema as z.core.$ZodTypes;
  let isPath = false;
  for (;;) {
    isPath ||= zod.globalRegistry.get(inner)?.["format"] === pathFormat;
    const { def } = inner._zod;
    switch (def.type) {
      case "optional":
      case "nullable":
      case "default":
      case "prefault":
      case "nonoptional":
      case "catch":
      case "readonly":
        inner = def.innerType as z.core.$ZodTypes;
        continue;
      case "pipe":
        inner = def.in as z.core.$ZodTypes;
        continue;
      default:
        return { inner, isPath };
    }
  }
}

type Issue = z.core.$ZodIssue;

function toProblems(issue: Issue, root: unknown, at: KeyPath, options: CheckOptions): Problem[] {
  const own = issue.path.filter((key) => typeof key !== "symbol");
  const path = [...at, ...own];
  // Already reported, with the nearest name.
  if (issue.code === "unrecognized_keys") return [];
  if (issue.code === "invalid_union") {
    const meant = meantBranch(issue.errors);
    if (depthOf(meant) > 0)
      return meant.flatMap((each) => toProblems({ ...each, path: [...own, ...each.path] }, root, at, options));
    const expected = issue.errors
      .flat()
      .flatMap((each) => (each.code === "invalid_type" ? [named(each.expected)] : []));
    if (expected.length > 0) return [{ path, message: `must be ${[...new Set(expected)].join(" or ")}` }];
  }
  const value = own.reduce<unknown>(
    (each, key) => (each as Record<string, unknown> | undefined)?.[key as string],
    root,
  );
  const message = sentence(issue, value, options.isReferred(path));
  return [{ path, message, ...(issue.code === "custom" && { isOfSeveral: true }) }];
}

function sentence(issue: Issue, value: unknown, isReferred: boolean): string {
  return describeIssue(issue, {
    wrongType(expected) {
      if (value === undefined) return `is missing; it must be ${named(expected)}`;
      if (value === null) return `is empty; it must be ${named(expected)}`;
      return `must be ${named(expected)}, not ${named(kindOf(value))}`;
    },
    meant: (name) => `did you mean ${quote(name)}?`,
    given: typeof value === "string" && !isReferred ? value : undefined,
  });
}

const typeNames: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
  null: "nothing",
};

function named(type: string): string {
  return typeNames[type] ?? type;
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "array" : typeof value;
}
