/** Shared by all reading commands: resources, output and terminal width. */
import { quote, ResourceError } from "../../errors.ts";
import { isGlob } from "../../lib/glob.ts";
import type { Call } from "../../resources.ts";
import type { CommandContext, FlagValues } from "../command.ts";
import { print } from "../print.ts";
import { formatCount } from "./amounts.ts";
import { nearestResource } from "./nearest-resource.ts";
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
  /** Writes to standard output with backpressure. */
  print(what: string | Uint8Array): Promise<void>;
}

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
  const progress = pager ? noProgress : createProgress(world.err);
  const reach = await openResourceAccess(flags, world, {
    write(text: string) {
      progress.clear();
      return world.err.write(text);
    },
  });
  const call: Call = {
    caller: { id: "local", owner: true },
    signal,
    progress: (done, total, message) =>
      progress.show(message ?? (total === undefined ? String(done) : `${Math.floor((done / total) * 100)} %`)),
  };
  /** The last path or URI that was looked for. */
  let wanted: string | undefined;
  try {
    await use({
      resources: reach.resources,
      roots: reach.roots,
      index: reach.index,
      call,
      progress,
      paint: createPaint(flags.color ?? "auto", world),
      isTerminal: out.isTTY === true,
      width: out.columns || Number(world.env["COLUMNS"]) || 80,
      locate: (where) => reach.locate((wanted = where), call),
      seen: (count) => progress.show(`${formatCount(count, "resource")}…`),
      warn(sentence) {
        progress.clear();
        world.err.write(`pressmark: ${sentence}\n`);
      },
      print(what) {
        progress.clear();
        return print(out, what);
      },
    });
  } catch (cause) {
    // Quitting the pager is not an error.
    if (pager?.left.aborted) return;
    if (!(cause instanceof ResourceError) || cause.kind !== "not-found" || wanted === undefined || isGlob(wanted))
      throw cause;
    const near = await nearestResource(wanted, reach, call);
    throw near === undefined
      ? cause
      : new ResourceError("not-found", `${cause.message}; nearest: ${quote(near)}`, { cause });
  } finally {
    progress.clear();
    await reach.close();
    await pager?.finish();
  }
}
