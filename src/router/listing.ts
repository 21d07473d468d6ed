/** Lists and directories, page by page. */
import { notFound } from "../errors.ts";
import type { Page, Resource, Resources } from "../resources.ts";
import { unfit } from "./cursor.ts";
import type { Cursors, Position } from "./cursor.ts";
import type { Doors } from "./doors.ts";
import type { Reading } from "./reading.ts";
import { queryKey, walk } from "./walk.ts";
import type { Run, Walked } from "./walk.ts";

export interface ListingOptions extends Pick<Reading, "findEntry"> {
  readonly cursors: Cursors;
  /** How many entries the first page holds. Later ones hold more, so that a million needs no more than 64 pages. */
  readonly pageSize: number;
}

const maxPageSize = 20_000;
const maxGrowth = 20;

export function createListing(
  doors: Doors,
  { cursors, pageSize, findEntry }: ListingOptions,
): Pick<Resources, "list" | "children"> {
  const largest = Math.max(pageSize, Math.min(maxPageSize, pageSize * maxGrowth));
  const sizeOf = (page: number) => Math.min(pageSize * 2 ** page, largest);

  function open(cursor: string | undefined, question: string): Position | undefined {
    if (cursor === undefined) return undefined;
    const position = cursors.open(cursor, question);
    // The house may have been furnished anew under the same key.
    if (!doors.routes.mounts.some((mount) => mount.name === position.mount)) throw unfit();
    return position;
  }

  function toPage({ items, next, failures }: Walked, page: number, question: string): Page<Resource> {
    return {
      items,
      ...(next && { next: cursors.seal({ ...next, page: page + 1 }, question) }),
      ...(failures.length > 0 && { failures }),
    };
  }

  return {
    async list({ cursor }, call) {
      const question = "list";
      const from = open(cursor, question);
      const page = from?.page ?? 0;
      const runs = doors.routes.mounts.map((mount): Run => {
        const { source } = mount;
        return { mount, ask: (ask) => source.list(ask, call), cursorAfter: source.cursorAfter?.bind(source) };
      });
      return toPage(await walk(doors, runs, call, { size: sizeOf(page), from }), page, question);
    },

    async children(uri, { cursor }, call) {
      const { mount, at } = doors.place(uri, call);
      const question = JSON.stringify(["children", mount.name, at.path, queryKey(at)]);
      const from = open(cursor, question);
      const page = from?.page ?? 0;
      const { source } = mount;
      if (source.children === undefined) throw notFound(uri);
      // A link may lead to a directory that the caller may not see.
      if (!doors.isOpen) await findEntry({ mount, at }, uri, call);
      const run: Run = { mount, ask: async (ask) => (await source.children?.(at, ask, call)) ?? { items: [] } };
      try {
        const walked = await walk(doors, [run], call, { size: sizeOf(page), from, strict: true });
        return toPage(walked, page, question);
      } catch (cause) {
        throw doors.refusal(cause, { uri, mount, asked: "children" }, call);
      }
    },
  };
}
