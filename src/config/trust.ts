/** What a person has allowed a config to do, kept for its owner alone. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { writeFileAtomically } from "../lib/write-file-atomically.ts";

/** Something that a config which was merely found may not do unasked. */
export interface Permission {
  /** Equal keys ask for the same. */
  readonly key: string;
  /** Completes "this config …", as a person would say it. */
  readonly sentence: string;
  /** What must be left out without it: a mount, a setting of the server, or all of the config. */
  readonly owner: { readonly mount: string } | { readonly setting: string } | "config";
}

export interface TrustStore {
  /** The keys that were granted to this config. */
  granted(file: string): ReadonlySet<string>;
  /** In place of what was granted before. */
  grant(file: string, permissions: readonly Permission[]): void;
  /** Says whether anything was granted. */
  forget(file: string): boolean;
}

interface Grant {
  readonly file: string;
  readonly keys: readonly string[];
}

/** One file per config, so that two who grant at the same time do not undo each other. */
export function createTrustStore(stateFolder: string): TrustStore {
  const folder = join(stateFolder, "trusted");
  const placeOf = (file: string) => join(folder, `${sha256(realPath(file)).slice(0, 32)}.json`);

  return {
    granted(file) {
      try {
        const grant = JSON.parse(readFileSync(placeOf(file), "utf8")) as Partial<Grant>;
        if (grant.file !== realPath(file) || !Array.isArray(grant.keys)) return new Set();
        return new Set(grant.keys.filter((key) => typeof key === "string"));
      } catch {
        // What cannot be read grants nothing.
        return new Set();
      }
    },

    grant(file, permissions) {
      const grant: Grant = { file: realPath(file), keys: permissions.map(({ key }) => key) };
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileAtomically(placeOf(file), `${JSON.stringify(grant, undefined, 2)}\n`);
    },

    forget(file) {
      const had = this.granted(file).size > 0;
      rmSync(placeOf(file), { force: true });
      return had;
    },
  };
}

export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** Without links as far as it exists: what a link leads to is what is asked for. */
export function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return resolve(path);
  }
}

/** Whether the second is the first or below it, links followed. */
export function holds(folder: string, path: string): boolean {
  const way = relative(realPath(folder), realPath(path));
  return (
    way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && resolve(realPath(folder), way) === realPath(path))
  );
}
