/** The work that every contestant has to do, in its plainest form: read a file, read a page of a folder. */
import { lstat, readdir, readFile } from "node:fs/promises";

export interface Listed {
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
  readonly size: number;
  readonly annotations: { readonly lastModified: string };
}

export interface ListedPage {
  readonly resources: Listed[];
  readonly nextCursor?: string;
}

/** The fixtures have names that need no escapes, so that no contestant pays for decoding them here. */
export function readText(uri: string): Promise<string> {
  return readFile(uri.slice("file://".length), "utf8");
}

/** Files below the root in order of their names; the cursor is the last name of the page before. */
export async function readPage(root: string, cursor: string | undefined, limit: number): Promise<ListedPage> {
  const resources: Listed[] = [];
  let last = "";
  const full = await walk("", cursor === undefined ? [] : cursor.split("/"));
  return full ? { resources, nextCursor: last } : { resources };

  async function walk(folder: string, after: readonly string[]): Promise<boolean> {
    const names = (await readdir(`${root}/${folder}`)).sort();
    const [head, ...rest] = after;
    let next = 0;
    if (head !== undefined) {
      while (next < names.length && names[next]! < head) next++;
      if (rest.length > 0 && names[next] === head) {
        if (await walk(`${folder}${head}/`, rest)) return true;
      }
      if (names[next] === head) next++;
    }
    while (next < names.length) {
      // What stands first tells whether this is a folder of files (then the rest of the page at once) or of folders.
      const first = await lstat(`${root}/${folder}${names[next]!}`);
      if (first.isDirectory()) {
        if (await walk(`${folder}${names[next]!}/`, [])) return true;
        next++;
        continue;
      }
      const batch = names.slice(next + 1, next + limit - resources.length);
      const stats = [first, ...(await Promise.all(batch.map((name) => lstat(`${root}/${folder}${name}`))))];
      for (const stat of stats) {
        const name = names[next++]!;
        if (stat.isDirectory()) {
          if (await walk(`${folder}${name}/`, [])) return true;
          continue;
        }
        last = `${folder}${name}`;
        resources.push({
          uri: `file://${root}/${last}`,
          name,
          mimeType: "text/plain",
          size: stat.size,
          annotations: { lastModified: stat.mtime.toISOString() },
        });
        if (resources.length === limit) return true;
      }
    }
    return false;
  }
}
