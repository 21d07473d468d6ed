/** The files that a mount names as its program: a grant is bound to their content. */
import { readFileSync, statSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { quote } from "../errors.ts";
import { isPlainObject } from "./references.ts";
import { type Facts, holds, realPath, sha256 } from "./trust.ts";

export interface BoundFiles {
  readonly facts: Facts;
  /** What a person should know before they trust it; each completes "this config …". */
  readonly notes: readonly string[];
  /** Why it cannot be trusted. */
  readonly refused?: string;
}

export interface MountPrograms {
  /** The options of the mount, with references resolved as far as that is allowed. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The config's folder. */
  readonly folder: string;
  /** Where the person stands, and where a program is started unless the mount names a folder. */
  readonly cwd: string;
}

/** A larger file takes too long to be looked through at each start. */
const maxBytes = 32 * 1024 * 1024;
/** Options whose texts may name what is run, or what decides whom the source talks to. */
const binding = ["command", "args", "env", "ca", "keyFile"];

/**
 * Every text is taken apart as a shell would, so that `sh -c "node server.js"` names a file, too. A program that is found through PATH is
 * named by no path, and is not among them; nor is what a program loads by itself.
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
    const stats = statOf(path);
    if (stats?.isDirectory() && argument !== undefined)
      notes.push(`names the folder ${quote(argument)}, whose content is not part of what is trusted`);
    if (!stats?.isFile()) return;
    const real = realPath(path);
    const name = JSON.stringify(relative(realPath(folder), real).split(sep).join("/"));
    const isOwn = holds(folder, real);
    if (stats.size > maxBytes) {
      // What is elsewhere is not the folder's to change.
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

  return { facts, notes: [...new Set(notes)], ...(refused !== undefined && { refused }) };
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isPlainObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

/** What may be a path. A command without a slash is looked for in PATH, and nowhere else. */
function wordsOf(text: string, option: string): string[] {
  const words = option === "command" ? [text].filter((each) => /[\\/]/.test(each)) : [text, ...text.split(separators)];
  return [...new Set(words)].filter((word) => word !== "" && !word.includes("\0"));
}

const separators = /[\s"'`;|&()<>{}$=,:]+/;

function statOf(path: string): ReturnType<typeof statSync> | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
