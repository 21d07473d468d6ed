/** A folder to serve: enough files for several pages, a picture, and names that are hard to spell. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { png } from "./fixture-media.ts";

export interface Folder extends AsyncDisposable {
  readonly path: string;
  /** Where the programs that serve it may keep their state. */
  readonly state: string;
  /** The URIs of all files, sorted. */
  readonly uris: readonly string[];
  uri(name: string): string;
  /** The one template of the folder. */
  readonly template: string;
  write(name: string, content: string | Uint8Array): Promise<void>;
}

/** More than twice what a page holds. */
const many = 2100;

export async function createFolder(): Promise<Folder> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "pressmark-interop-")));
  const path = join(root, "served");
  const names = new Set<string>();
  const uri = (name: string) => pathToFileURL(join(path, name)).href;

  async function write(name: string, content: string | Uint8Array): Promise<void> {
    names.add(name);
    await writeFile(join(path, name), content);
  }

  await mkdir(join(path, "many"), { recursive: true });
  await write("notes.txt", "Buy ink.\n");
  await write("pixel.png", png);
  await write("Größe & 100% 日本.md", "# Odd, and yet a name\n");
  for (let number = 0; number < many; number += 1) await write(`many/${number}.txt`, `${number}\n`);

  return {
    path,
    state: join(root, "state"),
    get uris() {
      return [...names].map(uri).sort();
    },
    uri,
    template: `${pathToFileURL(path).href}/{+path}{?lines,bytes,as}`,
    write,
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}
