/** Resolves `${env:NAME}` and `${file:path}` in a config, and records which values came from them. */
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { quote } from "../errors.ts";
import type { KeyPath, Problem } from "./problem.ts";
import { formatPath } from "./problem.ts";

interface ReferenceOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Base folder of paths. */
  readonly folder: string;
  /**
   * Whether references at this key may be resolved. If not, the text becomes empty; if undefined, it stays as written.
   * In both cases nothing is read.
   */
  mayResolve(path: KeyPath): boolean | undefined;
  /** Called with every file that was read. Returns false to reject its content: then the text becomes empty. */
  sawFile?(file: string, path: KeyPath, content: string): boolean;
}

/** One reference, as written. */
interface ConfigReference {
  readonly kind: "env" | "file";
  readonly name: string;
  /** Value to use if the variable or file does not exist. */
  readonly instead: string | undefined;
}

export interface FoundReference extends ConfigReference {
  readonly path: KeyPath;
}

export interface ResolvedReferences {
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Values of the references. Never show them. */
  readonly secrets: readonly string[];
  /** Formatted keys whose texts contain a reference. */
  readonly secretPaths: ReadonlySet<string>;
  /** Every reference, resolved or not. */
  readonly references: readonly FoundReference[];
  /** Keys of texts that became empty. */
  readonly unresolved: readonly KeyPath[];
}

interface Found {
  readonly text: string;
  /** Whether it is written in the config itself, and so is not a secret. */
  readonly written?: boolean;
}

const refusedPiece = Symbol("refused");

/** A referenced file contains a password or a name. */
const maxFileBytes = 64 * 1024;

/** Resolves every reference in every text; other values stay unchanged. */
export function resolveReferences(value: unknown, options: ReferenceOptions): ResolvedReferences {
  const problems: Problem[] = [];
  const secrets = new Set<string>();
  const secretPaths = new Set<string>();
  const references: FoundReference[] = [];
  const unresolved: KeyPath[] = [];

  function visit(each: unknown, path: KeyPath): unknown {
    if (typeof each === "string") return each.includes("${") ? expand(each, path) : each;
    if (Array.isArray(each)) return each.map((item, index) => visit(item, [...path, index]));
    if (isPlainObject(each))
      return Object.fromEntries(Object.entries(each).map(([key, inner]) => [key, visit(inner, [...path, key])]));
    return each;
  }

  function expand(text: string, path: KeyPath): string {
    const { pieces, problem } = parseReferences(text);
    if (problem !== undefined) problems.push({ path, message: problem });
    const referred = pieces.filter((piece) => typeof piece !== "string");
    if (referred.length > 0) secretPaths.add(formatPath(path));
    references.push(...referred.map((reference) => ({ ...reference, path })));
    const mayResolve = referred.length === 0 || options.mayResolve(path);
    const found = mayResolve && pieces.map((piece) => (typeof piece === "string" ? piece : lookUp(piece, path)));
    if (found && found.every((piece) => piece !== refusedPiece)) return found.join("");
    unresolved.push(path);
    return mayResolve === undefined ? text : "";
  }

  function lookUp(reference: ConfigReference, path: KeyPath): string | typeof refusedPiece {
    const found = reference.kind === "env" ? readVariable(reference, path) : readReferred(reference, path);
    if (found === refusedPiece) return found;
    if (found && !found.written) secrets.add(found.text);
    return found?.text ?? "";
  }

  function readVariable({ name, instead }: ConfigReference, path: KeyPath): Found | undefined {
    const set: unknown = options.env[name];
    // Ignores inherited properties such as "constructor".
    const found = typeof set === "string" ? set : undefined;
    // As in a shell, an empty value counts as absent if there is a fallback.
    if (found || (found !== undefined && instead === undefined)) return { text: found };
    if (instead !== undefined) return { text: instead, written: true };
    problems.push({
      path,
      isAbsence: true,
      message: `the environment variable ${quote(name, 80)} is not set; set it, or write \${env:${name.slice(0, 80)}:-value} with a default`,
    });
    return undefined;
  }

  function readReferred({ name, instead }: ConfigReference, path: KeyPath): Found | typeof refusedPiece | undefined {
    const file = resolve(options.folder, name);
    try {
      const stats = statSync(file);
      if (!stats.isFile()) throw refusal(`${quote(name)} is not a file`);
      if (stats.size > maxFileBytes) throw refusal(`${quote(name)} is larger than ${maxFileBytes} bytes`);
      const text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
      if (options.sawFile?.(file, path, text) === false) return refusedPiece;
      return { text: text.replace(/\r?\n$/, "") };
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (instead !== undefined && code === "ENOENT") return { text: instead, written: true };
      const why =
        cause instanceof Refusal
          ? cause.message
          : code === "ENOENT"
            ? `no file ${quote(name)}; create it, or write \${file:${name.slice(0, 80)}:-value} with a default`
            : cause instanceof TypeError
              ? `${quote(name)} is not UTF-8 text`
              : `${quote(name)} cannot be read`;
      problems.push({ path, message: why, ...(code === "ENOENT" && { isAbsence: true }) });
      return undefined;
    }
  }

  return { value: visit(value, []), problems, secrets: [...secrets], secretPaths, references, unresolved };
}

/** Splits a text into literal parts and references. Reports and drops invalid references; reads nothing. */
export function parseReferences(text: string): {
  readonly pieces: readonly (string | ConfigReference)[];
  readonly problem?: string;
} {
  const pieces: (string | ConfigReference)[] = [];
  let problem: string | undefined;
  for (let at = 0; at < text.length;) {
    const mark = text.indexOf("${", at);
    if (mark < 0) {
      pieces.push(text.slice(at));
      break;
    }
    // "$${" means a literal "${".
    if (text[mark - 1] === "$" && mark > at) {
      pieces.push(`${text.slice(at, mark - 1)}\${`);
      at = mark + 2;
      continue;
    }
    if (mark > at) pieces.push(text.slice(at, mark));
    const end = text.indexOf("}", mark);
    if (end < 0) {
      problem ??= 'a reference is not closed with "}"; write "$${" for a literal "${"';
      break;
    }
    const reference = toReference(text.slice(mark + 2, end));
    if (typeof reference === "string") problem ??= reference;
    else pieces.push(reference);
    at = end + 1;
  }
  return { pieces, problem };
}

/** The reference, or what is wrong with it. */
function toReference(written: string): ConfigReference | string {
  const colon = written.indexOf(":");
  const kind = colon < 0 ? "" : written.slice(0, colon);
  const rest = written.slice(colon + 1);
  const cut = rest.indexOf(":-");
  const name = cut < 0 ? rest : rest.slice(0, cut);
  if ((kind === "env" || kind === "file") && name !== "")
    return { kind, name, instead: cut < 0 ? undefined : rest.slice(cut + 2) };
  const hint = colon < 0 && /^\w+$/.test(written) ? `\${env:${written.slice(0, 80)}}` : "${env:NAME} or ${file:path}";
  return `a reference is written as ${hint}; write "$\${" for a literal "\${"`;
}

class Refusal extends Error {}

function refusal(message: string): Refusal {
  return new Refusal(message);
}

export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The object at a path; empty if there is none. */
export function valueAt(value: unknown, path: readonly string[]): Readonly<Record<string, unknown>> {
  const found = path.reduce<unknown>((each, key) => (isPlainObject(each) ? each[key] : undefined), value);
  return isPlainObject(found) ? found : {};
}

/** Shown instead of a value from a reference. */
export const dots = "••••";

/** Shorter secrets would mask too much of every text. */
const leastSecret = 3;
/** Errors cut long values, so the beginning of a secret is masked as well. */
const headLength = 16;

/** Masks all secrets in a text, even if they are cut. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const forms = new Set(secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]));
  const worth = [...forms]
    .filter(({ length }) => length >= leastSecret)
    .toSorted((one, other) => other.length - one.length);
  return (text) => worth.reduce(withoutSecret, text);
}

function withoutSecret(text: string, secret: string): string {
  if (secret.length <= headLength) return text.replaceAll(secret, dots);
  const head = secret.slice(0, headLength);
  let out = "";
  for (let at = 0; ;) {
    const found = text.indexOf(head, at);
    if (found < 0) return out + text.slice(at);
    let length = headLength;
    while (length < secret.length && text[found + length] === secret[length]) length += 1;
    out += text.slice(at, found) + dots;
    at = found + length;
  }
}
