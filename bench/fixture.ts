/** The files that are read, listed and watched. Made once below the system's temporary folder and used again. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";

export interface Fixture {
  /** `small.txt` (1 KiB), `large.txt` (1 MiB) and `watched.txt`. */
  readonly few: string;
  /** 100 folders of 1,000 files. */
  readonly tree: string;
  /** One folder of 100,000 files. */
  readonly flat: string;
}

export const smallBytes = 1024;
export const largeBytes = 1024 * 1024;

export function prepareFixture(needs: ReadonlySet<keyof Fixture>): Fixture {
  const base = join(tmpdir(), `pressmark-bench-${userInfo().username}`);
  const fixture: Fixture = { few: join(base, "few"), tree: join(base, "tree"), flat: join(base, "flat") };
  const makers: Record<keyof Fixture, (root: string) => void> = {
    few(root) {
      writeFileSync(join(root, "small.txt"), prose(smallBytes));
      writeFileSync(join(root, "large.txt"), prose(largeBytes));
      writeFileSync(join(root, "watched.txt"), "watched\n");
    },
    tree(root) {
      for (let folder = 0; folder < 100; folder++) {
        const path = join(root, `folder-${String(folder).padStart(3, "0")}`);
        mkdirSync(path);
        for (let file = 0; file < 1000; file++) writeFileSync(join(path, nameOf(file, 4)), `${folder} ${file}\n`);
      }
    },
    flat(root) {
      for (let file = 0; file < 100_000; file++) writeFileSync(join(root, nameOf(file, 6)), `${file}\n`);
    },
  };
  for (const kind of needs) {
    const root = fixture[kind];
    const done = `${root}.done`;
    if (existsSync(done)) continue;
    console.error(`making the files of ${JSON.stringify(kind)} …`);
    rmSync(root, { recursive: true, force: true });
    mkdirSync(root, { recursive: true });
    makers[kind](root);
    writeFileSync(done, "");
  }
  return fixture;
}

function nameOf(file: number, digits: number): string {
  return `file-${String(file).padStart(digits, "0")}.txt`;
}

/** Text with the line breaks and the quotes of ordinary text, so that its escapes cost what they usually cost. */
function prose(bytes: number): string {
  const line = 'A press mark says where a book stands: "case, shelf, number", and nothing else.\n';
  return line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes);
}
