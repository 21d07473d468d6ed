/** `${env:NAME}` and `${file:path}` in the texts of a config, and which values came from them. */
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { quote } from "../errors.ts";
import type { KeyPath, Problem } from "./problem.ts";
import { spellPath } from "./problem.ts";

export interface ReferenceOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What a path is relative to. */
  readonly folder: string;
  /** Whether this file may be read; what may not is left empty, and its key is in `withheld`. */
  mayRead(file: string, path: KeyPath): boolean;
}

export interface Resolved {
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** What the references stood for. Never to be shown. */
  readonly secrets: readonly string[];
  /** The keys, spelled, whose values came from a reference wholly or in part. */
  readonly secretPaths: ReadonlySet<string>;
  /** The keys, spelled, that hold a file which may not be read. */
  readonly withheld: ReadonlySet<string>;
}

interface Found {
  readonly text: string;
  /** Whether it stands in the config itself, and so is no secret. */
  readonly written?: boolean;
}

/** A file that is referred to holds a password or a name, not a library. */
const maxFileBytes = 64 * 1024;

/** Every reference of every text; what is no text stays as it is. */
export function resolveReferences(value: unknown, options: ReferenceOptions): Resolved {
  const problems: Problem[] = [];
  const secrets = new Set<string>();
  const secretPaths = new Set<string>();
  const withheld = new Set<string>();

  function visit(each: unknown, path: KeyPath): unknown {
    if (typeof each === "string") return each.includes("${") ? expand(each, path) : each;
    if (Array.isArray(each)) return each.map((item, index) => visit(item, [...path, index]));
    if (isPlainObject(each))
      return Object.fromEntries(Object.entries(each).map(([key, inner]) => [key, visit(inner, [...path, key])]));
    return each;
  }

  function expand(text: string, path: KeyPath): string {
    let out = "";
    for (let at = 0; at < text.length;) {
      const mark = text.indexOf("${", at);
      if (mark < 0) return out + text.slice(at);
      // "$${" is "${" itself.
      if (text[mark - 1] === "$" && mark > at) {
        out += `${text.slice(at, mark - 1)}\${`;
        at = mark + 2;
        continue;
      }
      out += text.slice(at, mark);
      const end = text.indexOf("}", mark);
      if (end < 0) {
        problems.push({
          path,
          message: 'a reference begins that does not end with "}"; write "$${" for the characters',
        });
        return out;
      }
      const found = lookUp(text.slice(mark + 2, end), path);
      if (found) {
        out += found.text;
        secretPaths.add(spellPath(path));
        if (!found.written) secrets.add(found.text);
      }
      at = end + 1;
    }
    return out;
  }

  function lookUp(reference: string, path: KeyPath): Found | undefined {
    const colon = reference.indexOf(":");
    const kind = colon < 0 ? "" : reference.slice(0, colon);
    const rest = reference.slice(colon + 1);
    const cut = rest.indexOf(":-");
    const name = cut < 0 ? rest : rest.slice(0, cut);
    const instead = cut < 0 ? undefined : rest.slice(cut + 2);
    if (kind === "env" && name !== "") {
      const found = options.env[name];
      // As in a shell, what is empty counts as absent where there is something to put instead.
      if (found || (found !== undefined && instead === undefined)) return { text: found };
      if (instead !== undefined) return { text: instead, written: true };
      problems.push({
        path,
        message: `the environment has no ${quote(name, 80)}; set it, or write \${env:${name.slice(0, 80)}:-value} for a value instead`,
      });
      return undefined;
    }
    if (kind === "file" && name !== "") return readReferred(name, instead, path);
    const hint =
      colon < 0 && /^\w+$/.test(reference) ? `\${env:${reference.slice(0, 80)}}` : "${env:NAME} or ${file:path}";
    problems.push({ path, message: `a reference is spelled ${hint}; write "$\${" for the characters themselves` });
    return undefined;
  }

  function readReferred(name: string, instead: string | undefined, path: KeyPath): Found | undefined {
    const file = resolve(options.folder, name);
    if (!options.mayRead(file, path)) {
      withheld.add(spellPath(path));
      return { text: "" };
    }
    try {
      const stats = statSync(file);
      if (!stats.isFile()) throw refusal(`${quote(name)} is no file`);
      if (stats.size > maxFileBytes) throw refusal(`${quote(name)} has more than ${maxFileBytes} bytes`);
      const text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
      return { text: text.replace(/\r?\n$/, "") };
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (instead !== undefined && code === "ENOENT") return { text: instead, written: true };
      const why =
        cause instanceof Refusal
          ? cause.message
          : code === "ENOENT"
            ? `there is no file ${quote(name)}`
            : cause instanceof TypeError
              ? `${quote(name)} is no text`
              : `${quote(name)} cannot be read`;
      problems.push({ path, message: why });
      return undefined;
    }
  }

  return { value: visit(value, []), problems, secrets: [...secrets], secretPaths, withheld };
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

/** What is shown in place of a value that came from a reference. */
export const dots = "••••";

/** One or two characters are no secret, and would blot out everything. */
const leastSecret = 3;
/** Errors cut what is long: so much of a secret's beginning is as good as all of it. */
const headLength = 16;

/** A text without any of the secrets, however much of them is there. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const spelled = new Set(secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]));
  const worth = [...spelled]
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
