/** Lists resources and directories page by page. */
import { notFound } from "../errors.ts";
import { createListFilter, filterKey } from "../lib/list-filter.ts";
import { directoryType, type ListFilter, type Page, type Resources } from "../resources.ts";
import type { SourceSkill } from "../source.ts";
import { unfit } from "./cursor.ts";
import type { Cursors, Position } from "./cursor.ts";
import type { Access } from "./access.ts";
import type { ResourceReader } from "./read-resource.ts";
import { showSkill } from "./skills.ts";
import { queryKey, mergeLists, mergeListsAs } from "./merge-lists.ts";
import type { MountList, MergedPage } from "./merge-lists.ts";

interface ListingOptions extends Pick<ResourceReader, "findEntry"> {
  readonly cursors: Cursors;
  /** Number of entries on the first page. Later pages hold more, so that a million entries need at most 64 pages. */
  readonly pageSize: number;
}

const maxPageSize = 20_000;
const maxGrowth = 20;
/** A small page, because a skill may name some hundred files. */
const mostSkills = 100;

export function createListing(
  access: Access,
  { cursors, pageSize, findEntry }: ListingOptions,
): Pick<Resources, "list" | "children"> & Required<Pick<Resources, "skills">> {
  const largest = Math.max(pageSize, Math.min(maxPageSize, pageSize * maxGrowth));
  const sizeOf = (page: number, limit = largest) => Math.max(1, Math.min(pageSize * 2 ** page, largest, limit));

  function open(cursor: string | undefined, listKey: string): Position | undefined {
    if (cursor === undefined) return undefined;
    const position = cursors.open(cursor, listKey);
    // The mounts may have changed since the cursor was made with the same key.
    if (!access.routes.mounts.some((mount) => mount.name === position.mount)) throw unfit();
    return position;
  }

  function toPage<T>({ items, next, failures }: MergedPage<T>, page: number, listKey: string): Page<T> {
    return {
      items,
      ...(next && { next: cursors.seal({ ...next, page: page + 1 }, listKey) }),
      ...(failures.length > 0 && { failures }),
    };
  }

  return {
    async list({ cursor, limit, filter, mount: only, onFailure }, call) {
      const listKey = `list${filterKey(filter)}${only === undefined ? "" : `of ${only}`}`;
      const from = open(cursor, listKey);
      const page = from?.page ?? 0;
      const mounts = access.routes.mounts.filter(({ name }) => only === undefined || name === only);
      const runs = mounts.map((mount): MountList => {
        const { source } = mount;
        return { mount, page: (request) => source.list(request, call), cursorAfter: source.cursorAfter?.bind(source) };
      });
      const size = sizeOf(page, limit);
      if (!filter) return toPage(await mergeLists(access, runs, call, { size, from }), page, listKey);
      const filtering = createFiltering(access.show, filter, from === undefined);
      const merged = await mergeListsAs(filtering.show, access, runs, call, { size, from, isSlow: true }).catch(
        (cause: unknown) => {
          onFailure?.(filtering.examined());
          throw cause;
        },
      );
      const filteredOut = filtering.count(merged.next === undefined);
      return { ...toPage(merged, page, listKey), ...(filteredOut > 0 && { filteredOut }) };
    },

    async children(uri, { cursor, limit }, call) {
      const { mount, at } = access.place(uri, call);
      const listKey = JSON.stringify(["children", mount.name, at.path, queryKey(at)]);
      const from = open(cursor, listKey);
      const page = from?.page ?? 0;
      const { source } = mount;
      if (source.children === undefined) throw notFound(uri);
      // A link may lead to a directory that the caller may not see.
      const entry = access.isOpen ? undefined : await findEntry({ mount, at }, uri, call);
      const run: MountList = {
        mount,
        page: async (request) => (await source.children?.(at, request, call)) ?? { items: [] },
      };
      const walked = await mergeLists(access, [run], call, { size: sizeOf(page, limit), from, strict: true }).catch(
        (cause: unknown) => {
          throw access.refusal(cause, { uri, mount, asked: "children" }, call);
        },
      );
      // A resource whose children are all hidden is the same as one without children.
      const hidesAll = walked.items.length === 0 && walked.next === undefined && from === undefined;
      if (hidesAll && entry && entry.mimeType !== directoryType) throw notFound(uri);
      return toPage(walked, page, listKey);
    },

    async skills({ cursor, limit }, call) {
      const listKey = "skills";
      const from = open(cursor, listKey);
      const page = from?.page ?? 0;
      const runs = access.routes.mounts.flatMap((mount): MountList<SourceSkill>[] => {
        // Whether a mount that is left out has skills is not known.
        if (mount.leftOut !== undefined) return [{ mount, page: async () => ({ items: [] }) }];
        const skills = mount.source.skills?.bind(mount.source);
        return skills ? [{ mount, page: (request) => skills(request, call) }] : [];
      });
      if (from && !runs.some(({ mount }) => mount.name === from.mount)) throw unfit();
      const size = Math.min(sizeOf(page, limit), mostSkills);
      const show = (skill: SourceSkill, mount: MountList["mount"]) => showSkill(access, skill, mount, call);
      return toPage(await mergeListsAs(show, access, runs, call, { size, from }), page, listKey);
    },
  };
}

/**
 * Shows what matches, and counts what does not: on each page what is before the next match, which the walk looks for beyond the end of the
 * page. So the count is the same whether or not there are hidden entries, which move the places where a walk begins and ends.
 */
function createFiltering(show: Access["show"], filter: ListFilter, isFirstPage: boolean) {
  const matches = createListFilter(filter);
  let isCounting = isFirstPage;
  let examined = 0;
  let passed = 0;
  let passedBeforeMatch = 0;
  return {
    show(...[entry, mount, call]: Parameters<Access["show"]>) {
      const resource = show(entry, mount, call);
      if (!resource) return undefined;
      examined += 1;
      if (matches(resource.name, resource.uri)) {
        isCounting = true;
        passedBeforeMatch = passed;
        return resource;
      }
      if (isCounting) passed += 1;
      return undefined;
    },
    examined: () => examined,
    count: (isLastPage: boolean) => (isLastPage ? passed : passedBeforeMatch),
  };
}
