/** Shared by all reading commands: resources, output and terminal width. */
import { isAbsolute } from "node:path";
import { quote, ResourceError } from "../../errors.ts";
import { isGlob } from "../../lib/glob.ts";
import { createPackageNotices } from "../../lib/missing-package.ts";
import type { Call } from "../../resources.ts";
import { isDotted } from "../../server/locate.ts";
import type { CommandContext, FlagValues } from "../command.ts";
import { print } from "../print.ts";
import { formatCount } from "./amounts.ts";
import { explainFailure } from "./find.ts";
import { nearestResources } from "./nearest-resources.ts";
import type { PagesOptions } from "./pages.ts";
import { createPager, pagerFlag } from "./pager.ts";
import { colorFlag, createPaint, type Paint } from "./paint.ts";
import { createProgress, noProgress, type Progress } from "./progress.ts";
import {
  openResourceAccess,
  type ResourceAccess,
  resourceAccessFlags,
  type ResourceAccessFlags,
} from "./resource-access.ts";

export const readingFlags = { ...resourceAccessFlags, color: colorFlag, pager: pagerFlag };

export type ReadingFlags = ResourceAccessFlags & Partial<FlagValues<typeof readingFlags>>;

export interface ReadingContext extends Omit<ResourceAccess, "close" | "locate">, PagesOptions {
  readonly call: Call;
  readonly paint: Paint;
  readonly progress: Progress;
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Width of a line in cells. */
  readonly width: number;
  locate(where: string): Promise<string>;
  /** Tells what a person at a terminal wants to know; unlike a warning, it says nothing about the result. */
  note(sentence: string): void;
  /** Keeps warnings back while something else uses the terminal; the returned function writes them. */
  holdWarnings(): () => void;
  /** Writes to standard output with backpressure. */
  print(what: string | Uint8Array): Promise<void>;
}

/** Logged for those who run a server. The person at the terminal gets the reason as an error. */
const deniedNotice = /^pressmark warn: the backend denied access; reported to the caller as not found/;

/** Closes everything in every case. */
export async function withReadingContext(
  flags: ReadingFlags,
  world: CommandContext,
  use: (context: ReadingContext) => Promise<void>,
): Promise<void> {
  const pager = createPager(flags.pager ?? false, world);
  const out = pager?.out ?? world.out;
  const signal = pager ? AbortSignal.any([world.signal, pager.left]) : world.signal;
  // The pager uses the whole screen.
  const progress = pager || world.isQuiet ? noProgress : createProgress(world.err);
  const isRepeatedNotice = createPackageNotices();
  let held: string[] | undefined;
  function write(line: string): boolean {
    if (isRepeatedNotice(line) || deniedNotice.test(line)) return true;
    if (held) return held.push(line) > 0;
    progress.clear();
    return world.err.write(line);
  }
  const reach = await openResourceAccess(flags, world, { write });
  const call: Call = {
    caller: { id: "local", owner: true },
    signal,
    progress: (done, total, message) =>
      progress.show(message ?? (total === undefined ? String(done) : `${Math.floor((done / total) * 100)} %`)),
  };
  /** The last path or URI that was looked for. */
  let wanted: string | undefined;
  function warn(sentence: string): void {
    write(`pressmark: ${sentence}\n`);
  }
  function note(sentence: string): void {
    if (!world.isQuiet) warn(sentence);
  }
  function holdWarnings(): () => void {
    held = [];
    return () => {
      const lines = held ?? [];
      held = undefined;
      for (const line of lines) world.err.write(line);
    };
  }
  async function locate(where: string): Promise<string> {
    const uri = await reach.locate((wanted = where), call);
    if (reach.current === undefined || isDotted(where) || where.includes(":") || isAbsolute(where)) return uri;
    // A path is one of a mount, as commands print it. Someone in a folder below may mean another file.
    const inFolder = await reach.locate(`./${where}`, call).catch(() => uri);
    if (inFolder !== uri)
      warn(
        `${quote(where)} is a path from the top of the mount; for the one in this folder, write ${quote(`./${where}`)}`,
      );
    return uri;
  }
  try {
    await use({
      resources: reach.resources,
      roots: reach.roots,
      index: reach.index,
      current: reach.current,
      watchAll: reach.watchAll,
      call,
      progress,
      paint: createPaint(flags.color ?? "auto", world),
      isTerminal: out.isTTY === true,
      width: out.columns || Number(world.env["COLUMNS"]) || 80,
      locate,
      holdWarnings,
      seen: (count) => progress.show(`${formatCount(count, "resource")}…`),
      warn,
      note,
      print(what) {
        progress.clear();
        return print(out, what);
      },
    });
  } catch (thrown) {
    // Quitting the pager is not an error.
    if (pager?.left.aborted) return;
    const cause = explainFailure(thrown, wanted ?? "");
    if (!(cause instanceof ResourceError) || cause.kind !== "not-found" || wanted === undefined || isGlob(wanted))
      throw cause;
    const hint = await hintFor(wanted, reach, call);
    throw hint === "" ? cause : new ResourceError("not-found", `${cause.message}; ${hint}`, { cause });
  } finally {
    progress.clear();
    await reach.close();
    await pager?.finish();
  }
}

/** Mounts that a hint names. */
const maxNamedMounts = 5;

/** How to find what is not there; empty if nothing is known. */
async function hintFor(where: string, access: ResourceAccess, call: Call): Promise<string> {
  const near = await nearestResources(where, access, call);
  if (near.length > 0) return `nearest: ${near.map((each) => quote(each)).join(", ")}`;
  const { roots } = access;
  if (!where.includes("://")) return '"pressmark ls" lists what is here';
  if (roots.some(({ base }) => where.startsWith(base.replace(/\/$/, "")))) return "";
  const shown = roots.slice(0, maxNamedMounts).map(({ uri }) => quote(uri));
  return shown.length === 0
    ? ""
    : `no mount has such URIs; there are ${shown.join(", ")}${roots.length > shown.length ? " and others" : ""}`;
}
