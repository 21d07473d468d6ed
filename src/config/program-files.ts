/** The files of a program: the named one and its relative imports, recursively. */
import { readFileSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { cutAt } from "../lib/cut-at.ts";
import { realPath } from "../lib/real-path.ts";
import { statsOf } from "../lib/stats-of.ts";
import { type Facts, sha256 } from "./trust.ts";

/** A larger program cannot have been reviewed before it was trusted. */
const maxFiles = 1000;
const maxBytes = 16 * 1024 * 1024;

/** The program is too large to bind to its content. The message completes "it …". */
export class ProgramTooLarge extends Error {}

/** Files that Node runs; searched for imports. */
const code = /\.[cm]?[jt]s$/;
/** Files that an import may name. */
const imported = /\.(?:[cm]?[jt]s|json|node|wasm)$/;
/** Endings that a CommonJS import may leave out. */
const endings = [
  "",
  ".js",
  ".json",
  ".node",
  ".cjs",
  ".mjs",
  ".ts",
  ".cts",
  ".mts",
  "/index.js",
  "/index.cjs",
  "/index.ts",
  "/package.json",
];

/**
 * The digest of each file by its path relative to the folder. `bytes` is the content of the file itself. Every quoted text that
 * begins with "./" or "../" and names a file counts as an import, so there may be too many. Computed import paths and packages
 * are not included.
 */
export function programFiles(file: string, bytes: Uint8Array, folder: string): Facts {
  const digests: Record<string, string> = {};
  const base = realPath(folder);
  const waiting: { readonly path: string; readonly content: Uint8Array }[] = [];
  let total = 0;
  const seen = new Set<string>();

  function count(path: string, size: number): void {
    seen.add(path);
    total += size;
    if (seen.size > maxFiles || total > maxBytes)
      throw new ProgramTooLarge(`imports more than ${maxFiles} files or ${maxBytes / 2 ** 20} MiB`);
  }

  function add(path: string, content: Uint8Array): void {
    digests[JSON.stringify(relative(base, path).split(sep).join("/"))] = sha256(content);
    if (code.test(path)) waiting.push({ path, content });
  }

  count(realPath(file), bytes.length);
  add(realPath(file), bytes);
  for (let next = waiting.pop(); next; next = waiting.pop())
    for (const path of importsOf(new TextDecoder().decode(next.content), dirname(next.path)))
      if (!seen.has(path)) {
        count(path, statsOf(path)?.size ?? 0);
        add(path, contentOf(path));
      }
  return digests;
}

const literal = /(["'`])(\.{1,2}(?:\/[^"'`\r\n]*)?)\1/g;

function importsOf(text: string, folder: string): string[] {
  return [...unescaped(text).matchAll(literal)].flatMap(([, , specifier = ""]) => {
    const path = resolve(folder, cutAt(specifier, /[?#]/));
    const found = endings.map((ending) => path + ending).find((each) => imported.test(each) && statsOf(each)?.isFile());
    return found === undefined ? [] : [realPath(found)];
  });
}

/** Resolves escapes, which are valid in imports: "\x2e/x.ts" is "./x.ts". */
function unescaped(text: string): string {
  return text.replaceAll(
    /\\(?:x([\da-f]{2})|u([\da-f]{4})|u\{([\da-f]{1,6})\})/gi,
    (escape, ...digits: readonly (string | undefined)[]) => {
      const point = parseInt(digits[0] ?? digits[1] ?? digits[2] ?? "", 16);
      return point <= 0x10ffff ? String.fromCodePoint(point) : escape;
    },
  );
}

/** Empty if it cannot be read: then it cannot be imported either. */
function contentOf(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch {
    return new Uint8Array();
  }
}
