/** Sets outside the config, stored in the user's state folder per project. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { isSetName, isSetUri } from "../../config/sets.ts";
import type { SetSettings } from "../../config/schema.ts";
import { writeFileAtomically } from "../../lib/write-file-atomically.ts";
import type { Runtime } from "../../source.ts";
import { type Project, projectKey } from "../search/index-location.ts";

export interface SavedSet extends SetSettings {
  readonly name: string;
  /** Id of the caller who saved it and alone may see it. Sets saved with the command are for everyone. */
  readonly owner?: string;
}

export interface SavedSets {
  /** Their folder; it may not exist yet. */
  readonly folder: string;
  /** A file that is rewritten with every change, for watching. */
  readonly stamp: string;
  /** Reads the disk. Invalid files are left out and logged. */
  all(): readonly SavedSet[];
  /** Replaces the set of the same name and owner. */
  put(set: SavedSet): void;
  /** Returns false, and writes nothing, if the name and owner have a file, even if another process has just written it. */
  create(set: SavedSet): boolean;
  /** Returns whether it existed. */
  remove(set: Pick<SavedSet, "name" | "owner">): boolean;
}

const maxBytes = 1024 * 1024;
const isFileOfOurs = /^[0-9a-f]{32}\.json$/;

/** One file per set, so that concurrent saves do not overwrite each other. Reads the disk only when called. */
export function createSavedSets(stateFolder: string, project: Project, { log }: Pick<Runtime, "log">): SavedSets {
  let folder: string | undefined;
  const place = () => (folder ??= join(stateFolder, "sets", projectKey(project)));
  const stamp = () => join(place(), "changed");
  const fileOf = ({ name, owner }: Pick<SavedSet, "name" | "owner">) => {
    const { createHash } = process.getBuiltinModule("node:crypto");
    const key = createHash("sha256")
      .update(JSON.stringify([name, owner]))
      .digest("hex")
      .slice(0, 32);
    return join(place(), `${key}.json`);
  };

  /** Returns false if it must be new and is not. */
  function write(set: SavedSet, isNew: boolean): boolean {
    mkdirSync(place(), { recursive: true, mode: 0o700 });
    try {
      writeFileAtomically(fileOf(set), `${JSON.stringify({ project, ...set }, undefined, 2)}\n`, { isNew });
    } catch (cause) {
      if (isNew && (cause as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw cause;
    }
    writeFileAtomically(stamp(), "");
    return true;
  }

  return {
    get folder() {
      return place();
    },
    get stamp() {
      return stamp();
    },

    all() {
      let names: string[];
      try {
        names = readdirSync(place()).filter((name) => isFileOfOurs.test(name));
      } catch {
        return [];
      }
      return names.flatMap((name) => {
        const set = readSet(join(place(), name));
        if (!set) log("warn", "a saved set is invalid and left out", { file: name });
        return set ?? [];
      });
    },

    put: (set) => void write(set, false),
    create: (set) => write(set, true),

    remove(set) {
      const file = fileOf(set);
      if (!statSync(file, { throwIfNoEntry: false })) return false;
      rmSync(file, { force: true });
      writeFileAtomically(stamp(), "");
      return true;
    },
  };
}

function readSet(file: string): SavedSet | undefined {
  try {
    if (statSync(file).size > maxBytes) return undefined;
    return toSet(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined;
  }
}

/** The file may be from another version, or written by hand. */
function toSet(value: unknown): SavedSet | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { name, owner, title, description, resources } = value as Readonly<Record<string, unknown>>;
  if (typeof name !== "string" || !isSetName(name)) return undefined;
  if (!Array.isArray(resources) || !resources.every((uri) => typeof uri === "string" && !isSetUri(uri)))
    return undefined;
  return {
    name,
    resources: resources as string[],
    ...(typeof owner === "string" && { owner }),
    ...(typeof title === "string" && { title }),
    ...(typeof description === "string" && { description }),
  };
}
