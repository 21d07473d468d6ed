/** Serves the files below one folder: names are confined to it, folder rules decide what is served. */
import { realpathSync, statfsSync, statSync } from "node:fs";
import { basename, resolve, sep } from "node:path";
import { denied, invalid, notFound, quote, ResourceError, unavailable } from "../../errors.ts";
import { mimeOfName } from "../../lib/mime.ts";
import { withSlashes } from "../../lib/with-slashes.ts";
import { type Call, type Page, serverCaller } from "../../resources.ts";
import { type Address, type Entry, hasQuery, type Runtime, type Source } from "../../source.ts";
import { createFolderWatcher } from "../disk-watch/watch.ts";
import { pictureTypes } from "../documents/document-types.ts";
import { createExtract, type Extract } from "../documents/extract.ts";
import { createOcrPool, findTesseract, missingTesseract } from "../documents/ocr.ts";
import { chooseRules, createFolderRules } from "../folder-rules/folder-rules.ts";
import { personOf } from "../folder-rules/git-excludes.ts";
import type { RuleChoice } from "../folder-rules/name-rules.ts";
import { parseReadQuery, type ReadQuery } from "../ranges/range.ts";
import { completePath } from "./complete.ts";
import { createConfine } from "./confine.ts";
import { createDiskState } from "./disk-state.ts";
import { createLocalDisk, createRemoteDisk, diskKind, isNothing, isRefusal } from "./disk.ts";
import { createNames } from "./names.ts";
import { createFileReader, fileTemplate } from "./read.ts";
import { run, settled } from "./steps.ts";
import type { Steps } from "./steps.ts";
import { createWalk } from "./walk.ts";

/** Recognizing a large collection of photos would take days. */
const maxIndexedPictures = 1000;

export interface FolderOptions extends Partial<RuleChoice> {
  readonly root: string;
  readonly maxBytes: number;
  readonly textTimeoutMs?: number;
  readonly ocr?: boolean | readonly string[];
  readonly icons?: boolean;
  readonly watch?: "auto" | "poll";
  readonly pollMs?: number;
}

type FolderSource = Source & Required<Pick<Source, "stat" | "children" | "watch" | "noteChanges" | "close">>;

export function openFolder(
  {
    root: configured,
    maxBytes,
    textTimeoutMs = 20_000,
    ocr = false,
    icons = false,
    watch = "auto",
    pollMs = 2000,
    ...chosen
  }: FolderOptions,
  { log, env }: Pick<Runtime, "log" | "env">,
): FolderSource {
  const root = withSlashes(realRoot(configured));
  const kind = diskKind(statfsSync(root).type);
  if (kind === "made-up")
    throw invalid(`${quote(root)} is on a virtual file system (such as /proc) and cannot be served`);
  const disk = kind === "local" ? createLocalDisk() : createRemoteDisk();
  const logged = new Set<string>();
  let indexedPictures = 0;
  const choice = chooseRules(chosen);
  const person = personOf(env);
  const folderRules = createFolderRules({ ...choice, root, disk, person, say });
  const confine = createConfine(root, disk, folderRules);
  const names = createNames(disk, folderRules);
  const walk = createWalk({
    root: { name: basename(root) || "/" },
    confine,
    disk,
    names,
    folderRules,
    entryOptions: { icons, ocr: ocr !== false },
    refused: (path) => say("permission denied: folder left out", path),
    unspeakable: (path) => say("name is not valid UTF-8: left out", path),
  });
  const extract = createExtract({ timeoutMs: textTimeoutMs });
  const pictures = ocr === false ? undefined : openPictures(ocr);
  const reads = createFileReader({ confine, disk, maxBytes, extract, pictures, entry: walk.entry });
  const watching = createFolderWatcher({
    root,
    choice,
    person,
    announced: watch === "auto",
    polled: watch === "poll" || kind !== "local",
    pollMs,
    log,
    ...(kind === "local" && { stateOf: createDiskState(confine, disk).signature }),
  });

  function openPictures(chosenLanguages: true | readonly string[]): Extract {
    const options = { env, avoid: [root], ...(chosenLanguages !== true && { languages: chosenLanguages }) };
    if (findTesseract(options) === undefined)
      log("warn", `the text of pictures is not recognized: ${missingTesseract}`, { path: root });
    return createExtract({ timeoutMs: textTimeoutMs, pool: createOcrPool(options) });
  }

  /** Refuses the text of a picture to the index when it has asked for too many. */
  function countPicture({ path }: Address, { caller }: Call): void {
    if (!pictures || caller.id !== serverCaller.id || !pictureTypes.has(mimeOfName(path) ?? "")) return;
    indexedPictures += 1;
    if (indexedPictures <= maxIndexedPictures) return;
    say(`the text of ${maxIndexedPictures} pictures was recognized for search; others are found by name only`, "");
    throw new ResourceError("too-large", `too many pictures to recognize the text of ${quote(path)} for search`);
  }

  /** Logs once per path, for at most 1000 paths. */
  function say(message: string, path: string): void {
    if (logged.has(path) || logged.size >= 1000) return;
    logged.add(path);
    log("warn", message, { path });
  }

  /** Runs the steps. Error messages contain only the requested path, never a path on the disk. */
  async function answer<T>(path: string, steps: Steps<T | undefined>): Promise<T> {
    let found: T | undefined;
    try {
      found = await run(steps);
    } catch (cause) {
      if (cause instanceof ResourceError) throw cause;
      if (isRefusal(cause)) {
        say("permission denied", path);
        throw denied(`permission denied: ${quote(path)}`, cause);
      }
      if (!isNothing(cause)) throw unavailable(`${quote(path)} cannot be read at the moment; try again`, cause);
    }
    if (found !== undefined) return found;
    if (path !== "" && (await run(confine.visit("", () => settled(true))))) throw notFound(path);
    throw unavailable("the folder of this mount does not exist at the moment");
  }

  return {
    cursorAfter: ({ path }) => path,

    async list({ cursor, limit, versions }, { signal }): Promise<Page<Entry>> {
      return answer("", walk.files({ cursor, limit, versions, signal }));
    },

    async read(at, call) {
      const { path } = at;
      if (!hasQuery(at)) return answer(path, reads.whole(path));
      if (at.query?.["as"] === "text") countPicture(at, call);
      return answer(path, reads.part(path, readQueryOf(at), call.signal));
    },

    async stat(at) {
      const { path } = at;
      const readQuery = hasQuery(at) ? readQueryOf(at) : undefined;
      return answer(
        path,
        confine.visit(path, (location) => settled(reads.entry(at, location, readQuery))),
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
          "A file or folder by its path. For a file also: some lines (lines=10-40, from 1), some bytes " +
          "(bytes=0-1023, from 0), or the text of a PDF, an office document, a notebook or a web page (as=text)",
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

    async noteChanges() {
      folderRules.expire();
    },

    filesOf: ({ path }) => [path === "" ? { path: root } : { folder: root, path }],

    async close() {
      names.clear();
      folderRules.clear();
      extract.close();
      pictures?.close();
      await watching.close();
    },
  };
}

/** The real path of the folder, links resolved. */
export function realRoot(configured: string): string {
  let root: string;
  try {
    root = realpathSync.native(resolve(configured));
  } catch (cause) {
    const why = configured.split(sep).includes("~")
      ? 'does not exist; "~" is not expanded: write the whole path or ${env:HOME}, or'
      : isNothing(cause)
        ? "does not exist; create it, or"
        : "cannot be opened; check its permissions, or";
    throw new ResourceError("invalid", `folder ${quote(configured)} ${why} set "root" to another folder`, { cause });
  }
  if (!statSync(root).isDirectory()) throw invalid(`${quote(configured)} is not a folder; set "root" to a folder`);
  return root;
}

/** Throws "not-found" for an unknown query. */
function readQueryOf({ path, query = {} }: Address): ReadQuery {
  const readQuery = parseReadQuery(query);
  if (!readQuery) throw notFound(path);
  return readQuery;
}
