/** Sets outside the config, stored in the user's state folder per project. Instances of one server share theirs: see `shared-sets.ts`. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
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
  /** Where they are, for messages and locks of this machine. */
  readonly location: string;
  /** The known sets, without waiting. Invalid ones are left out and logged. */
  all(): readonly SavedSet[];
  /** Resolves when `all` has every set that was saved before the call. */
  load(): Promise<void>;
  /** Replaces the set of the same name and owner. */
  put(set: SavedSet): Promise<void>;
  /** Returns false, and writes nothing, if the name and owner have a set, even if another process has just written it. */
  create(set: SavedSet): Promise<boolean>;
  /** Returns false, and writes nothing, if the set of the same name and owner is not `before`. */
  replace(set: SavedSet, before: SavedSet): Promise<boolean>;
  /** Returns whether it existed. */
  remove(set: Pick<SavedSet, "name" | "owner">): Promise<boolean>;
  /** Calls back when another process may have changed a set. Resolves when the signal is aborted. */
  follow(changed: () => void, signal: AbortSignal): Promise<void>;
}

const maxBytes = 1024 * 1024;
const isFileOfOurs = /^[0-9a-f]{32}\.json$/;
const startMs = 500;
/** File times come from a clock that lags some milliseconds behind. */
const clockLagMs = 100;

/** One file per set, so that concurrent saves do not overwrite each other. Reads the disk only when called. */
export function createSavedSets(stateFolder: string, project: Project, runtime: Runtime): SavedSets {
  let folder: string | undefined;
  const place = () => (folder ??= join(stateFolder, "sets", projectKey(project)));
  /** A file that is rewritten with every change, for watching. */
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
    get location() {
      return place();
    },
    load: async () => undefined,

    all() {
      let names: string[];
      try {
        names = readdirSync(place()).filter((name) => isFileOfOurs.test(name));
      } catch {
        return [];
      }
      return names.flatMap((name) => {
        const set = readSet(join(place(), name));
        if (!set) runtime.log("warn", "a saved set is invalid and left out", { file: name });
        return set ?? [];
      });
    },

    put: async (set) => void write(set, false),
    create: async (set) => write(set, true),

    async replace(set, before) {
      if (!isDeepStrictEqual(readSet(fileOf(set)), toSet(before))) return false;
      return write(set, false);
    },

    async remove(set) {
      const file = fileOf(set);
      if (!statSync(file, { throwIfNoEntry: false })) return false;
      rmSync(file, { force: true });
      writeFileAtomically(stamp(), "");
      return true;
    },

    /** Runs late, because computing the folder takes a digest that the first response need not wait for. */
    async follow(changed, signal) {
      const beganMs = runtime.now();
      try {
        await runtime.wait(startMs, signal);
      } catch {
        return;
      }
      try {
        // Changes below a folder that does not exist yet would be noticed seconds later.
        mkdirSync(place(), { recursive: true, mode: 0o700 });
      } catch {
        // Nothing can be saved here by this user either.
      }
      const { watchFile } = await import("../watch-file.ts");
      const followed = watchFile(stamp(), async () => changed(), { runtime, signal });
      if ((statSync(stamp(), { throwIfNoEntry: false })?.mtimeMs ?? 0) >= beganMs - clockLagMs) changed();
      await followed;
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

/** A stored set may be from another version, or written by hand. */
export function toSet(value: unknown): SavedSet | undefined {
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
