/** What every reading command has before it: resources to ask for, a way to show them, and how wide that is. */
import type { Call } from "../../resources.ts";
import type { CommandContext } from "../command.ts";
import { print } from "../print.ts";
import { formatCount } from "./amounts.ts";
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

export interface ReadingFlags extends ResourceAccessFlags {
  readonly color?: "auto" | "always" | "never";
  readonly pager?: boolean;
}

export interface ReadingContext extends Omit<ResourceAccess, "close" | "locate">, PagesOptions {
  readonly call: Call;
  readonly paint: Paint;
  readonly progress: Progress;
  /** Whether a person sees what is printed. */
  readonly isTerminal: boolean;
  /** How many cells a line has. */
  readonly width: number;
  locate(where: string): Promise<string>;
  /** Writes to standard output, at the reader's pace. */
  print(what: string | Uint8Array): Promise<void>;
}

/** Whatever happens, nothing is left open behind. */
export async function withReadingContext(
  flags: ReadingFlags,
  world: CommandContext,
  use: (context: ReadingContext) => Promise<void>,
): Promise<void> {
  const pager = createPager(flags.pager ?? false, world);
  const out = pager?.out ?? world.out;
  const signal = pager ? AbortSignal.any([world.signal, pager.left]) : world.signal;
  // A pager has the screen for itself.
  const progress = pager ? noProgress : createProgress(world.err);
  const reach = await openResourceAccess(flags, world, {
    write(text: string) {
      progress.clear();
      return world.err.write(text);
    },
  });
  try {
    const call: Call = {
      caller: { id: "local" },
      signal,
      progress: (done, total, message) =>
        progress.show(message ?? (total === undefined ? String(done) : `${Math.floor((done / total) * 100)} %`)),
    };
    await use({
      resources: reach.resources,
      roots: reach.roots,
      ...(reach.index && { index: reach.index }),
      call,
      progress,
      paint: createPaint(flags.color ?? "auto", world),
      isTerminal: out.isTTY === true,
      width: out.columns || Number(world.env["COLUMNS"]) || 80,
      locate: (where) => reach.locate(where, call),
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
    // Who has left the pager has seen enough.
    if (!pager?.left.aborted) throw cause;
  } finally {
    progress.clear();
    await reach.close();
    await pager?.finish();
  }
}
