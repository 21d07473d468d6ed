/** Trees of many small files, made once outside the repository and used again; also a command of its own. */
import { existsSync, mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { createMadeTexts } from "./made-texts.ts";

export interface TreeShape {
  readonly folders: number;
  /** In each folder. */
  readonly files: number;
}

/** What a small file and its name take on a common file system: a block, an inode and a place in its folder. */
const bytesEach = 4096 + 256 + 64;
/** What is left for everyone else. */
const spareBytes = 1024 ** 3;

/** Files are named so that the order of their names is the order of their numbers, with as many digits as the last one needs. */
export function makeTree(root: string, { folders, files }: TreeShape): void {
  once(root, folders * (files + 1), () => {
    for (let folder = 0; folder < folders; folder++) {
      const path = join(root, folderName(folder, folders));
      mkdirSync(path);
      for (let file = 0; file < files; file++) writeFileSync(join(path, fileName(file, files)), `${folder} ${file}\n`);
    }
  });
}

/** The same with texts to search, of 200 bytes to 2 KB each in English, Japanese and code. */
export function makeTextTree(root: string, { folders, files }: TreeShape): void {
  once(root, folders * (files + 1), () => {
    const nextText = createMadeTexts();
    for (let folder = 0; folder < folders; folder++) {
      const path = join(root, folderName(folder, folders));
      mkdirSync(path);
      for (let file = 0; file < files; file++) {
        const { ending, text } = nextText();
        writeFileSync(join(path, fileName(file, files, ending)), text);
      }
    }
  });
}

export function makeFlat(root: string, files: number): void {
  once(root, files, () => {
    for (let file = 0; file < files; file++) writeFileSync(join(root, fileName(file, 1_000_000)), `${file}\n`);
  });
}

/** Makes a folder unless it was made to its end before. */
export function once(root: string, count: number, make: () => void): void {
  const done = `${root}.done`;
  if (existsSync(done)) return;
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  checkSpace(dirname(root), count);
  console.error(`making ${count.toLocaleString("en")} files in ${root} …`);
  make();
  writeFileSync(done, "");
}

function checkSpace(folder: string, count: number): void {
  const { bavail, bsize, ffree, files } = statfsSync(folder);
  const free = bavail * bsize;
  const needed = count * bytesEach + spareBytes;
  const say = (what: string) => new Error(`${what} for ${count} files in ${folder}; set TMPDIR to a larger disk`);
  if (free < needed) throw say(`${gib(free)} GiB are free and ${gib(needed)} are needed`);
  // Some file systems count no inodes and say 0.
  if (files > 0 && ffree < count * 1.1) throw say(`only ${ffree} inodes are free`);
}

function gib(bytes: number): string {
  return (bytes / 1024 ** 3).toFixed(1);
}

export function folderName(folder: number, folders: number): string {
  return `folder-${String(folder).padStart(Math.max(3, String(folders - 1).length), "0")}`;
}

export function fileName(file: number, files: number, ending = "txt"): string {
  return `file-${String(file).padStart(Math.max(4, String(files - 1).length), "0")}.${ending}`;
}

if (import.meta.main) {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { texts: { type: "boolean" } } });
  const [root, folders, files] = positionals;
  if (root === undefined || !(Number(folders) >= 1 && Number(files) >= 1)) {
    console.error("node bench/make-tree.ts ROOT FOLDERS FILES-IN-EACH [--texts]");
    process.exitCode = 2;
  } else {
    const make = values.texts ? makeTextTree : makeTree;
    make(resolve(root), { folders: Number(folders), files: Number(files) });
  }
}
