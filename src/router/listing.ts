/** Lists and directories, page by page. */
import { notFound } from "../errors.ts";
import type { Page, Resources } from "../resources.ts";
import type { SourceSkill } from "../source.ts";
import { unfit } from "./cursor.ts";
import type { Cursors, Position } from "./cursor.ts";
import type { Doors } from "./doors.ts";
import type { Reading } from "./reading.ts";
import { showSkill } from "./skills.ts";
import { queryKey, walk, walkAs } from "./walk.ts";
import type { Run, Walked } from "./walk.ts";

export interface ListingOptions extends Pick<Reading, "findEntry"> {
  readonly cursors: Cursors;
  /** How many entries the first page holds. Later ones hold more, so that a million needs no more than 64 pages. */
  readonly pageSize: number;
}

const maxPageSize = 20_000;
const maxGrowth = 20;
/** A skill may name some hundred files. */
const mostSkills = 100;

export function createListing(
  doors: Doors,
  { cursors, pageSize, findEntry }: ListingOptions,
): Pick<Resources, "list" | "children"> & Required<Pick<Resources, "skills">> {
  const largest = Math.max(pageSize, Math.min(maxPageSize, pageSize * maxGrowth));
  const sizeOf = (page: number, limit = largest) => Math.max(1, Math.min(pageSize * 2 ** page, largest, limit));

  function open(cursor: string | undefined, question: string): Position | undefined {
    if (cursor === undefined) return undefined;
    const position = cursors.open(cursor, question);
    // The house may have been furnished anew under the same key.
    if (!doors.routes.mounts.some((mount) => mount.name === position.mount)) throw unfit();
    return position;
  }

  function toPage<T>({ items, next, failures }: Walked<T>, page: number, question: string): Page<T> {
    return {
      items,
      ...(next && { next: cursors.seal({ ...next, page: page + 1 }, question) }),
      ...(failures.length > 0 && { failures }),
    };
  }

  return {
    async list({ cursor, limit }, call) {
      const question = "list";
      const from = open(cursor, question);
      const page = from?.page ?? 0;
      const runs = doors.routes.mounts.map((mount): Run => {
        const { source } = mount;
        return { mount, ask: (ask) => source.list(ask, call), cursorAfter: source.cursorAfter?.bind(source) };
      });
      return toPage(await walk(doors, runs, call, { size: sizeOf(page, limit), from }), page, question);
    },

    async children(uri, { cursor, limit }, call) {
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
        const walked = await walk(doors, [run], call, { size: sizeOf(page, limit), from, strict: true });
        return toPage(walked, page, question);
      } catch (cause) {
        throw doors.refusal(cause, { uri, mount, asked: "children" }, call);
      }
    },

    async skills({ cursor, limit }, call) {
      const question = "skills";
      const from = open(cursor, question);
      const page = from?.page ?? 0;
      const runs = doors.routes.mounts.flatMap((mount): Run<SourceSkill>[] => {
        const ask = mount.source.skills?.bind(mount.source);
        return ask ? [{ mount, ask: (asked) => ask(asked, call) }] : [];
      });
      if (from && !runs.some(({ mount }) => mount.name === from.mount)) throw unfit();
      const size = Math.min(sizeOf(page, limit), mostSkills);
      const show = (skill: SourceSkill, mount: Run["mount"]) => showSkill(doors, skill, mount, call);
      return toPage(await walkAs(show, doors, runs, call, { size, from }), page, question);
    },
  };
}
