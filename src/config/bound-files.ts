/** The program files that a mount names. A grant is bound to their content. */
import { readFileSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { quote } from "../errors.ts";
import { isPlainObject } from "./references.ts";
import { realPath } from "../lib/real-path.ts";
import { statsOf } from "../lib/stats-of.ts";
import { type Facts, holds, sha256 } from "./trust.ts";

interface BoundFiles {
  readonly facts: Facts;
  /** Notes for the trust prompt; each completes "this config …". */
  readonly notes: readonly string[];
  /** Why it cannot be trusted. */
  readonly refused?: string;
}

export interface MountPrograms {
  /** Options of the mount, with references resolved as far as allowed. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The config's folder. */
  readonly folder: string;
  /** The working directory, where programs start if the mount names no folder. */
  readonly cwd: string;
}

/** Larger files take too long to hash at each start. */
const maxBytes = 32 * 1024 * 1024;
/** Options whose texts may name a program, or decide whom the source connects to. */
const binding = ["command", "args", "env", "ca", "keyFile"];

/**
 * Splits every text as a shell would, so that `sh -c "node server.js"` also names a file. Programs found through PATH are not
 * included, nor files that a program loads by itself.
 */
export function boundFiles({ options, folder, cwd }: MountPrograms): BoundFiles {
  const facts: Record<string, string> = {};
  const notes: string[] = [];
  let refused: string | undefined;
  const from = typeof options["cwd"] === "string" ? resolve(folder, options["cwd"]) : cwd;
  const places = new Set([from, folder]);

  for (const option of binding) {
    for (const text of textsIn(options[option]))
      for (const word of wordsOf(text, option))
        for (const place of places) look(resolve(place, word), option === "args" && word === text ? word : undefined);
  }

  function look(path: string, argument: string | undefined): void {
    const stats = statsOf(path);
    if (stats?.isDirectory() && argument !== undefined)
      notes.push(`names the folder ${quote(argument)}, whose content is not part of what is trusted`);
    if (!stats?.isFile()) return;
    const real = realPath(path);
    const name = JSON.stringify(relative(realPath(folder), real).split(sep).join("/"));
    const isOwn = holds(folder, real);
    if (stats.size > maxBytes) {
      // Files elsewhere are not under the control of the config's author.
      facts[name] = "large";
      if (isOwn) refused = `names ${name}, which is larger than ${maxBytes / 2 ** 20} MiB`;
      return;
    }
    try {
      facts[name] = sha256(readFileSync(real));
    } catch {
      facts[name] = "unreadable";
      if (isOwn) refused = `names ${name}, which cannot be read`;
    }
  }

  return { facts, notes: [...new Set(notes)], refused };
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isPlainObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

/** Possible paths. A command without a slash is found only through PATH. */
function wordsOf(text: string, option: string): string[] {
  const words = option === "command" ? [text].filter((each) => /[\\/]/.test(each)) : [text, ...text.split(separators)];
  return [...new Set(words)].filter((word) => word !== "" && !word.includes("\0"));
}

const separators = /[\s"'`;|&()<>{}$=,:]+/;
