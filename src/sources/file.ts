/** Files below one folder. */
import { realpathSync, statfsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { notFound, quote, ResourceError } from "../errors.ts";
import type { Page } from "../resources.ts";
import { defineSource } from "../source.ts";
import type { Address, Entry } from "../source.ts";
import { completePath } from "./file/complete.ts";
import { createConfine } from "./file/confine.ts";
import { createLocalDisk, createRemoteDisk, diskKind, isNothing, isRefusal } from "../backends/disk/disk.ts";
import { createExtract } from "./file/extract.ts";
import type { RuleChoice } from "../backends/folder-rules/name-rules.ts";
import { ruleOptions } from "../backends/folder-rules/rule-options.ts";
import { personOf } from "../backends/folder-rules/git-excludes.ts";
import { createNames } from "./file/names.ts";
import { parseAsk, type ReadAsk } from "./file/range.ts";
import { createFileReader, fileTemplate } from "./file/read.ts";
import { chooseRules, createFolderRules } from "../backends/folder-rules/folder-rules.ts";
import { sharedOptions } from "./file/shared-options.ts";
import { run, settled } from "../backends/disk/steps.ts";
import type { Steps } from "../backends/disk/steps.ts";
import { createWalk } from "./file/walk.ts";
import { createFolderWatcher } from "./file/watch.ts";
import { createWatchLook } from "./file/watch-look.ts";

const maxBytesUnlessSaid = 5 * 1024 * 1024;

interface FileOptions extends Partial<RuleChoice> {
  readonly root: string;
  readonly maxBytes: number;
  readonly textTimeoutMs?: number;
  readonly icons?: boolean;
  readonly watch?: "auto" | "poll";
  readonly pollMs?: number;
}

export default defineSource<FileOptions>({
  name: "file",
  summary: "Files below one folder",
  scheme: "file",
  options: (z) =>
    z.object({
      root: z.string().min(1).describe("the folder to serve").meta({ format: "path" }),
      maxBytes: z
        .int()
        .positive()
        .max(512 * 1024 * 1024)
        .default(maxBytesUnlessSaid)
        .describe("how much is read at once, in bytes; of what is larger a part can be asked for"),
      textTimeoutMs: z
        .int()
        .min(100)
        .max(600_000)
        .default(20_000)
        .describe("how long taking the text out of a document may take, in milliseconds"),
      ...ruleOptions(z),
      icons: z.boolean().default(false).describe("give each entry a small icon of its kind"),
      ...sharedOptions(z),
    }),

  base: ({ root }) => pathToFileURL(`${realRoot(root).replace(/\/$/, "")}/`).href,

  async open(
    { root: configured, maxBytes, textTimeoutMs = 20_000, icons = false, watch = "auto", pollMs = 2000, ...chosen },
    { log },
  ) {
    const root = realRoot(configured);
    const kind = diskKind(statfsSync(root).type);
    if (kind === "made-up") throw new ResourceError("invalid", `the folder ${quote(root)} holds no files of its own`);
    const disk = kind === "local" ? createLocalDisk() : createRemoteDisk();
    const said = new Set<string>();
    const choice = chooseRules(chosen);
    const person = personOf(process.env, homedir());
    const folderRules = createFolderRules({ ...choice, root, disk, person, say });
    const confine = createConfine(root, disk, folderRules);
    const names = createNames(disk, folderRules);
    const walk = createWalk({
      root: { name: basename(root) || "/" },
      confine,
      disk,
      names,
      folderRules,
      icons,
      refused: (path) => say("the system refuses a folder, so it is left out", path),
      unspeakable: (path) => say("a name is no valid UTF-8, so it is left out", path),
    });
    const extract = createExtract({ timeoutMs: textTimeoutMs });
    const reads = createFileReader({ confine, disk, maxBytes, extract, entry: walk.entry });
    const watching = createFolderWatcher({
      root,
      choice,
      person,
      announced: watch === "auto",
      polled: watch === "poll" || kind !== "local",
      pollMs,
      log,
      ...(kind === "local" && { stateOf: createWatchLook(confine, disk).signature }),
    });

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

    return {
      cursorAfter: ({ path }) => path,

      async list({ cursor, limit, versions }, { signal }): Promise<Page<Entry>> {
        return answer("", walk.files({ cursor, limit, versions, signal }));
      },

      async read(at, call) {
        const { path } = at;
        if (!hasQuery(at)) return answer(path, reads.whole(path));
        return answer(path, reads.part(path, askOf(at), call.signal));
      },

      async stat(at) {
        const { path } = at;
        const ask = hasQuery(at) ? askOf(at) : undefined;
        return answer(
          path,
          confine.visit(path, (place) => settled(reads.entry(at, place, ask))),
        );
      },

      async children(at, { cursor, limit }, { signal }): Promise<Page<Entry>> {
        if (hasQuery(at)) throw notFound(at.path);
        return answer(at.path, walk.children(at.path, { cursor, limit, signal }));
      },

      templates: [
        {
          template: fileTemplate,
          name: "File",
          description:
            "One file of the folder, or one of its folders, by its path; of a file also some lines (lines=10-40, from 1), some bytes " +
            "(bytes=0-1023, from 0), and of a PDF, an office document or a web page the text (as=text)",
        },
      ],

      async complete({ variable, value }) {
        if (variable === "as") return "text".startsWith(value) ? [{ value: "text", reveals: { path: "" } }] : [];
        if (variable !== "path") return [];
        return answer(value, completePath(value, { confine, names, walk }));
      },

      async watch({ signal }) {
        return watching.watch(signal);
      },

      async close() {
        names.clear();
        folderRules.clear();
        extract.close();
        await watching.close();
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

/** A query that is not known here leads nowhere. */
function askOf({ path, query = {} }: Address): ReadAsk {
  const ask = parseAsk(query);
  if (!ask) throw notFound(path);
  return ask;
}
