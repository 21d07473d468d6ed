/** Files below one folder. */
import { realpathSync, statfsSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { notFound, quote, ResourceError } from "../errors.ts";
import type { Page } from "../resources.ts";
import { defineSource } from "../source.ts";
import type { Address, Entry, Part } from "../source.ts";
import { completePath } from "./file/complete.ts";
import { createConfine } from "./file/confine.ts";
import { toPart } from "./file/content.ts";
import { createLocalDisk, createRemoteDisk, diskKind, isNothing, isRefusal } from "./file/disk.ts";
import { createNames } from "./file/names.ts";
import { run, settled } from "./file/steps.ts";
import type { Steps } from "./file/steps.ts";
import { createWalk } from "./file/walk.ts";
import { startWatch } from "./file/watch.ts";

const maxBytesUnlessSaid = 5 * 1024 * 1024;

export default defineSource({
  name: "file",
  summary: "Files below one folder",
  scheme: "file",
  options: (z) =>
    z.object({
      root: z.string().min(1).describe("the folder to serve"),
      maxBytes: z
        .int()
        .positive()
        .max(512 * 1024 * 1024)
        .default(maxBytesUnlessSaid)
        .describe("the size above which a file is not read"),
    }),

  base: ({ root }) => pathToFileURL(`${realRoot(root).replace(/\/$/, "")}/`).href,

  async open({ root: configured, maxBytes }, { log }) {
    const root = realRoot(configured);
    const kind = diskKind(statfsSync(root).type);
    if (kind === "made-up") throw new ResourceError("invalid", `the folder ${quote(root)} holds no files of its own`);
    const disk = kind === "local" ? createLocalDisk() : createRemoteDisk();
    const confine = createConfine(root, disk);
    const names = createNames(disk);
    const said = new Set<string>();
    const walk = createWalk({
      root: { name: basename(root) || "/" },
      confine,
      disk,
      names,
      refused: (path) => say("the system refuses a folder, so it is left out", path),
      unspeakable: (path) => say("a name is no valid UTF-8, so it is left out", path),
    });
    const closing = new AbortController();

    /** Once per path, and not for ever more of them. */
    function say(message: string, path: string): void {
      if (said.has(path) || said.size >= 1000) return;
      said.add(path);
      log("warn", message, { path });
    }

    /** An answer, or why there is none, in words that hold nothing but what was asked for. */
    async function answer<T>(path: string, steps: Steps<T | undefined>): Promise<T> {
      let found: T | undefined;
      try {
        found = await run(steps);
      } catch (cause) {
        if (cause instanceof ResourceError) throw cause;
        if (isRefusal(cause)) {
          say("the system refuses a path", path);
          throw new ResourceError("denied", `the system refuses ${quote(path)}`, { cause });
        }
        if (!isNothing(cause))
          throw new ResourceError("unavailable", `${quote(path)} cannot be read just now; try again`, { cause });
      }
      if (found !== undefined) return found;
      if (path !== "" && (await run(confine.visit("", () => settled(true))))) throw notFound(path);
      throw new ResourceError("unavailable", "the folder of this mount is not there just now");
    }

    /** "again" if the file was replaced between the look and the opening. */
    function* readOnce(path: string): Steps<Part[] | undefined | "again"> {
      return yield* confine.visit<Part[] | "again">(path, function* (place) {
        if (place.kind === "folder")
          throw new ResourceError("directory", `${quote(path)} is a directory; list its children instead`);
        const size = Number(place.stats.size);
        if (size > maxBytes) throw tooLarge(path, size);
        const fd = yield* confine.open(place);
        if (fd === undefined) return "again";
        try {
          const bytes = yield* settled(disk.read(fd, size, maxBytes));
          if (bytes.length > maxBytes) throw tooLarge(path, bytes.length);
          const part = toPart(path.slice(path.lastIndexOf("/") + 1), bytes);
          return [place.direct ? part : { ...part, reveals: { path: place.path } }];
        } finally {
          disk.close(fd);
        }
      });
    }

    function* readSteps(path: string): Steps<Part[] | undefined> {
      for (let attempt = 0; attempt < 8; attempt += 1) {
        const parts = yield* readOnce(path);
        if (parts !== "again") return parts;
      }
      return undefined;
    }

    function tooLarge(path: string, size: number): ResourceError {
      return new ResourceError("too-large", `${quote(path)} has ${size} bytes; at most ${maxBytes} are read at once`, {
        details: { reason: "too-large", size, maxBytes },
      });
    }

    return {
      async list({ cursor, limit }, { signal }): Promise<Page<Entry>> {
        return answer("", walk.files({ cursor, limit, signal }));
      },

      async read(at) {
        if (hasQuery(at)) throw notFound(at.path);
        return answer(at.path, readSteps(at.path));
      },

      async stat(at) {
        const { path } = at;
        if (hasQuery(at)) throw notFound(path);
        return answer(
          path,
          confine.visit(path, (place) => settled(walk.entry(path, place))),
        );
      },

      async children(at, { cursor, limit }, { signal }): Promise<Page<Entry>> {
        if (hasQuery(at)) throw notFound(at.path);
        return answer(at.path, walk.children(at.path, { cursor, limit, signal }));
      },

      templates: [
        {
          template: "{+path}",
          name: "File",
          description: "One file of the folder, or one of its folders, by its path",
        },
      ],

      async complete({ variable, value }) {
        if (variable !== "path") return [];
        return answer(value, completePath(value, { confine, names, walk }));
      },

      async watch({ signal }) {
        return startWatch({ root, isLocal: kind === "local", signal, closing: closing.signal, log });
      },

      async close() {
        names.clear();
        closing.abort();
      },
    };
  },
});

/** The folder itself, without links. */
function realRoot(configured: string): string {
  let root: string;
  try {
    root = realpathSync.native(resolve(configured));
  } catch (cause) {
    const why = isNothing(cause) ? "is not there; create it, or" : "cannot be reached; check who may enter it, or";
    throw new ResourceError("invalid", `the folder ${quote(configured)} ${why} set "root" to another`, { cause });
  }
  if (!statSync(root).isDirectory())
    throw new ResourceError("invalid", `${quote(configured)} is no folder; set "root" to one`);
  return root;
}

function hasQuery({ query }: Address): boolean {
  if (query) for (const _ in query) return true;
  return false;
}
