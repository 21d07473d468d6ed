/**
 * A separate git folder that links to the refs and objects of the repository, and to nothing else of it. Git only ever runs on this folder,
 * so that it never sees a setting, hook, filter, graft, replacement or alternates list of the repository.
 */
import { lstatSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lastingFailure, ResourceError, shuttingDown, unavailable } from "../../errors.ts";
import type { Disk } from "../disk/disk.ts";
import { globalExcludes, personOf } from "../folder-rules/git-excludes.ts";
import { run } from "../disk/steps.ts";
import { processMark, removeLeftovers } from "../../lib/leftovers.ts";
import type { Runtime } from "../../runtime.ts";
import { writeFileAtomically } from "../../lib/write-file-atomically.ts";
import { type GitProgram } from "./program.ts";
import { isRefName } from "./ref-name.ts";
import { type Reach, placesOutside, reachOf, reachStamp } from "./reach.ts";
import { smallText, type GitRepository } from "./repository.ts";

export interface Mirror {
  /** Resolves with the git folder to use, updated if necessary. */
  ready(): Promise<string>;
  /** The current HEAD, which is copied to the mirror. */
  head(): Head;
  /** Throws if the repository now refers to a location that it did not refer to when it was opened. */
  confine(): void;
  /** Updates the mirror to the current settings of the repository. */
  refresh(): Promise<string>;
  /** Length of a hash in characters. Known once `ready` has resolved. */
  readonly hashLength: 40 | 64;
  /** Removes the folder. */
  close(): void;
}

/** The folder is removed with the process. */
const temporary = { isLasting: false };

type Head = { readonly ref: string } | { readonly hash: string };

/** How long the repository may be assumed unchanged: a check costs as much as a read. */
const trustMs = 2;
const maxHeadBytes = 4096;
const maxConfigBytes = 4 * 1024 * 1024;

/** Settings that control how files and refs are compared. None of them names a program, a file or another location. */
const harmless = new Set([
  "core.filemode",
  "core.symlinks",
  "core.ignorecase",
  "core.precomposeunicode",
  "core.autocrlf",
  "core.eol",
  "core.trustctime",
  "core.checkstat",
  "core.sparsecheckout",
  "core.sparsecheckoutcone",
  "extensions.objectformat",
  "extensions.refstorage",
]);

interface MirrorOptions {
  readonly repository: GitRepository;
  /** Locations that the repository used when it was opened. Others must not be used later. */
  readonly reach: Reach;
  readonly program: GitProgram;
  readonly disk: Disk;
  readonly env: Runtime["env"];
  /**
   * Called when git must be restarted: the mirror is a new folder, because the first was removed by a cleaner of temporary folders, or its
   * object folders have changed.
   */
  remade(): void;
}

export function createMirror({ repository, reach, program, disk, env, remade }: MirrorOptions): Mirror {
  const { gitDir, commonDir } = repository;
  const allowed = [repository.root, ...placesOutside(reach, [repository.root])];
  let objectFolders: readonly string[] = [];
  let confinedStamp: string | undefined;
  let confinedUntilMs = 0;
  /** The object folders and their names in the mirror. */
  const linked = new Map<string, string>();
  let alternates = "";
  let folder: string | undefined;
  let made: Promise<string> | undefined;
  let isMade = false;
  let wasMade = false;
  let headText: string | undefined;
  let configStamp = "";
  let hashLength: 40 | 64 = 40;
  /** Creation is shared by all callers, and not aborted when one of them leaves. */
  const closing = new AbortController();
  const { signal } = closing;

  async function make(): Promise<string> {
    if (signal.aborted) throw shuttingDown();
    refuseIfGone(repository);
    confine();
    // A removed folder is not created again under its name: another process may already have taken it.
    if (wasMade) remade();
    removeLeftovers(tmpdir(), "folders");
    const own = (folder = mkdtempSync(join(tmpdir(), `pressmark-git${processMark()}`)));
    mkdirSync(join(own, "info"));
    await program.check(own, signal);
    for (const [name, target] of [
      ["refs", join(commonDir, "refs")],
      ["packed-refs", join(commonDir, "packed-refs")],
      ["reftable", join(gitDir, "reftable")],
      ["shallow", join(commonDir, "shallow")],
      [join("info", "exclude"), join(commonDir, "info", "exclude")],
      [join("info", "sparse-checkout"), join(gitDir, "info", "sparse-checkout")],
    ] as const) {
      refusePipe(target);
      link(target, join(own, name));
    }
    mkdirSync(join(own, "objects", "info"), { recursive: true });
    linked.clear();
    alternates = "";
    linkObjectFolders(own);
    await writeConfig(own);
    headText = undefined;
    head();
    return own;
  }

  function confine(): void {
    const now = performance.now();
    if (now < confinedUntilMs) return;
    if (reachStamp(repository, objectFolders) !== confinedStamp) confineAgain();
    confinedUntilMs = now + trustMs;
  }

  function confineAgain(): void {
    confinedStamp = undefined;
    refuseIfGone(repository);
    const found = lastingly(() => reachOf(repository));
    if (placesOutside(found, allowed).length > 0)
      throw lastingFailure(
        "this git repository now refers to an outside location that it did not refer to when it was opened",
      );
    const isOther = found.objectFolders.join("\n") !== objectFolders.join("\n");
    objectFolders = found.objectFolders;
    confinedStamp = reachStamp(repository, objectFolders);
    if (isOther && isMade) remade();
  }

  /** Gives git access to the current object folders of the repository, and to no others. */
  function linkObjectFolders(own: string): void {
    for (const objects of objectFolders)
      if (!linked.has(objects)) {
        const name = `objects-${linked.size}`;
        linkObjects(objects, join(own, name));
        linked.set(objects, name);
      }
    const lines = objectFolders.map((objects) => `../${linked.get(objects)}\n`).join("");
    if (lines === alternates) return;
    writeFileAtomically(join(own, "objects", "info", "alternates"), lines, temporary);
    alternates = lines;
  }

  async function writeConfig(own: string): Promise<void> {
    const stamp = stampOf();
    const settings = await readSettings(own);
    const setting = (key: string) => settings.findLast(([name]) => name === key)?.[1]?.toLowerCase();
    hashLength = setting("extensions.objectformat") === "sha256" ? 64 : 40;
    const copied = settings.filter(([key]) => harmless.has(key) || isTracking(key));
    const excludes = await run(globalExcludes(personOf(env), undefined, disk));
    const isNewer = copied.some(([key]) => key.startsWith("extensions."));
    const lines: readonly (readonly [string, string])[] = [
      ["core.repositoryformatversion", isNewer ? "1" : "0"],
      ...copied,
      ["core.bare", "true"],
      ["core.warnambiguousrefs", "false"],
      ["core.fsmonitor", "false"],
      // A multi-pack index names packs by paths, which may point anywhere.
      ["core.multipackindex", "false"],
      ["core.hookspath", own],
      ["core.attributesfile", ""],
      ["core.excludesfile", excludes ?? ""],
      ["protocol.allow", "never"],
      ["gc.auto", "0"],
    ];
    writeFileAtomically(
      join(own, "config"),
      lines.map(([key, value]) => formatSetting(key, value)).join(""),
      temporary,
    );
    configStamp = stamp;
  }

  async function readSettings(own: string): Promise<(readonly [string, string])[]> {
    const settings: (readonly [string, string])[] = [];
    for (const file of configFiles()) {
      if (!statSync(file, { throwIfNoEntry: false })?.isFile()) continue;
      const { bytes } = await program.run(["config", "--file", file, "--no-includes", "--null", "--list"], {
        gitDir: own,
        signal,
        maxBytes: maxConfigBytes,
      });
      for (const line of bytes.toString("utf8").split("\0")) {
        const feed = line.indexOf("\n");
        if (line !== "") settings.push(feed < 0 ? [line, "true"] : [line.slice(0, feed), line.slice(feed + 1)]);
      }
    }
    return settings;
  }

  function configFiles(): readonly string[] {
    return [join(commonDir, "config"), join(gitDir, "config.worktree")];
  }

  function stampOf(): string {
    return configFiles()
      .map((file) => {
        const stats = statSync(file, { throwIfNoEntry: false, bigint: true });
        return stats ? `${stats.ino}-${stats.size}-${stats.mtimeNs}` : "";
      })
      .join(" ");
  }

  function head(): Head {
    const text = smallText(join(gitDir, "HEAD"), maxHeadBytes);
    const found = text === undefined ? undefined : parseHead(text);
    if (text === undefined || !found) {
      refuseIfGone(repository);
      throw unavailable("the HEAD of this repository is invalid");
    }
    if (text !== headText && folder !== undefined) {
      writeFileAtomically(join(folder, "HEAD"), "ref" in found ? `ref: ${found.ref}\n` : `${found.hash}\n`, temporary);
      headText = text;
    }
    return found;
  }

  function remove(): void {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    folder = made = undefined;
  }

  function ready(): Promise<string> {
    if (isMade && !statSync(join(folder ?? "", "config"), { throwIfNoEntry: false })) made = undefined;
    if (isMade && made && folder !== undefined) linkObjectFolders(folder);
    if (made) return made;
    isMade = false;
    made = make().then(
      (own) => {
        isMade = wasMade = true;
        return own;
      },
      (cause: unknown) => {
        remove();
        throw cause;
      },
    );
    return made;
  }

  return {
    ready,
    confine,
    head,
    get hashLength() {
      return hashLength;
    },
    async refresh() {
      const own = await ready();
      if (stampOf() !== configStamp) await writeConfig(own);
      head();
      // An index may be split, and git expects the other half next to it.
      for (const name of await readdir(gitDir).catch(() => []))
        if (/^sharedindex\.[0-9a-f]+$/.test(name) && lstatSync(join(gitDir, name)).isFile())
          link(join(gitDir, name), join(own, name));
      return own;
    },
    close() {
      closing.abort();
      remove();
    },
  };
}

/** The upstream of a branch, which is only compared, never contacted. */
function isTracking(key: string): boolean {
  return /^branch\..+\.(?:remote|merge)$/s.test(key) || /^remote\..+\.fetch$/s.test(key);
}

function parseHead(text: string): Head | undefined {
  const line = text.trimEnd();
  const ref = /^ref:\s*(\S+)$/.exec(line)?.[1];
  if (ref !== undefined) return isRefName(ref) || ref === "refs/heads/.invalid" ? { ref } : undefined;
  return /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(line) ? { hash: line } : undefined;
}

/** Formats one setting with any value. */
function formatSetting(key: string, value: string): string {
  const first = key.indexOf(".");
  const last = key.lastIndexOf(".");
  const section = key.slice(0, first);
  const sub = first === last ? "" : ` "${key.slice(first + 1, last).replace(/["\\]/g, "\\$&")}"`;
  const escaped = value.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n");
  return `[${section}${sub}]\n\t${key.slice(last + 1)} = "${escaped}"\n`;
}

function refuseIfGone({ gitDir, commonDir }: GitRepository): void {
  if (statSync(join(gitDir, "HEAD"), { throwIfNoEntry: false }) && statSync(commonDir, { throwIfNoEntry: false }))
    return;
  throw unavailable("the repository of this mount does not exist at the moment");
}

/** Reports an invalid state of the repository as "unavailable": the request is not at fault. */
function lastingly<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw cause instanceof ResourceError ? lastingFailure(cause.message, cause) : cause;
  }
}

/** Git would block for ever on a pipe. */
function refusePipe(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats && !stats.isFile() && !stats.isDirectory())
    throw lastingFailure("the repository contains a pipe or a device instead of a file");
}

/** Creates an object folder that links to another one, but without its alternates file: git follows such a file in every object folder. */
function linkObjects(objects: string, path: string): void {
  mkdirSync(join(path, "info"), { recursive: true });
  for (let first = 0; first < 256; first += 1) {
    const name = first.toString(16).padStart(2, "0");
    link(join(objects, name), join(path, name));
  }
  for (const name of ["pack", join("info", "commit-graph"), join("info", "commit-graphs")])
    link(join(objects, name), join(path, name));
}

function link(target: string, path: string): void {
  try {
    symlinkSync(target, path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
  }
}
