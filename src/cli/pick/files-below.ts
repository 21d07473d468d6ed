/** Lists the files below a directory, for choosing all of them. */
import { createCursorGuard } from "../../lib/cursor-guard.ts";
import { directoryType, hasChildren, type Call, type Page, type PageRequest, type Resource } from "../../resources.ts";
import type { ReadingContext } from "../reading/reading-context.ts";

const maxFiles = 10_000;
/** Links may lead back. */
const maxDepth = 20;

export interface FilesBelow {
  readonly files: readonly Resource[];
  /** There are more. */
  readonly isCut: boolean;
}

/** From the list, which enters no links; directories that are not listed, such as those of a commit, are walked. */
export async function filesBelow(
  uri: string,
  { resources, roots }: Pick<ReadingContext, "resources" | "roots">,
  call: Call,
): Promise<FilesBelow> {
  const start = uri.endsWith("/") ? uri : `${uri}/`;
  const root = roots.find(({ base }) => start.startsWith(base));
  const mount = root?.name === undefined ? {} : { mount: root.name };
  const files: Resource[] = [];
  for await (const item of itemsOf((page) => resources.list({ ...page, ...mount }, call)))
    if (item.uri.startsWith(start) && files.push(item) > maxFiles) return { files, isCut: true };
  if (files.length > 0) return { files, isCut: false };
  const open: [directory: string, depth: number][] = [[uri, 0]];
  for (const [directory, depth] of open)
    for await (const item of itemsOf((page) => resources.children(directory, page, call))) {
      if (item.mimeType !== directoryType) files.push(item);
      if (hasChildren(item) && depth < maxDepth && item.meta?.["pressmark/view"] !== true)
        open.push([item.uri, depth + 1]);
      if (files.length + open.length > maxFiles) return { files, isCut: true };
    }
  return { files, isCut: false };
}

async function* itemsOf(ask: (page: PageRequest) => Promise<Page<Resource>>): AsyncGenerator<Resource> {
  const leadsOn = createCursorGuard();
  let cursor: string | undefined;
  do {
    const { items, next } = await ask(cursor === undefined ? {} : { cursor });
    yield* items;
    cursor = next;
  } while (cursor !== undefined && leadsOn(cursor));
}
