/** The files that are read, listed and watched. Made once below the system's temporary folder and used again. */
import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { makeRepository } from "./make-repository.ts";
import { makeFlat, makeTree, once } from "./make-tree.ts";
import { madeUp } from "./search/scale.ts";

export interface Fixture {
  /** `small.txt` (1 KiB), `large.txt` (1 MiB) and `watched.txt`. */
  readonly few: string;
  /** 100 files of 100 kB. */
  readonly documents: string;
  /** One folder of 1,000 files in a folder. */
  readonly thousand: string;
  /** 100 folders of 1,000 files. */
  readonly tree: string;
  /** 50 folders of 1,000 files, and `watched.txt`. */
  readonly mixed: string;
  /** 1,000 folders of 1,000 files. */
  readonly million: string;
  /** One folder of 100,000 files. */
  readonly flat: string;
  /** 10,000 texts of about 700 bytes in 100 folders. */
  readonly texts: string;
  /** 10,000 commits, and 3,000 files. */
  readonly repository: string;
  /** 100 commits, and as many files. */
  readonly shortRepository: string;
}

export const smallBytes = 1024;
export const largeBytes = 1024 * 1024;
export const documentBytes = 100_000;
export const documentCount = 100;
export const textCount = 10_000;

export function prepareFixture(needs: ReadonlySet<keyof Fixture>): Fixture {
  const base = join(tmpdir(), `pressmark-bench-${userInfo().username}`);
  const fixture: Fixture = {
    few: join(base, "few"),
    documents: join(base, "documents"),
    thousand: join(base, "thousand"),
    tree: join(base, "tree"),
    mixed: join(base, "mixed"),
    million: join(base, "million"),
    flat: join(base, "flat"),
    texts: join(base, "texts"),
    repository: join(base, "repository"),
    shortRepository: join(base, "short-repository"),
  };
  const makers: Record<keyof Fixture, (root: string) => void> = {
    few: (root) =>
      once(root, 3, () => {
        writeFileSync(join(root, "small.txt"), prose(smallBytes));
        writeFileSync(join(root, "large.txt"), prose(largeBytes));
        writeFileSync(join(root, "watched.txt"), "watched\n");
      }),
    documents: (root) =>
      once(root, documentCount, () => {
        for (let file = 0; file < documentCount; file += 1)
          writeFileSync(join(root, `document-${file}.txt`), prose(documentBytes));
      }),
    thousand: (root) => makeTree(root, { folders: 1, files: 1000 }),
    tree: (root) => makeTree(root, { folders: 100, files: 1000 }),
    mixed: (root) => {
      makeTree(root, { folders: 50, files: 1000 });
      writeFileSync(join(root, "watched.txt"), "watched\n");
    },
    million: (root) => makeTree(root, { folders: 1000, files: 1000 }),
    flat: (root) => makeFlat(root, 100_000),
    texts: (root) =>
      once(root, textCount, () => {
        for (const { path, text } of madeUp(textCount)) {
          mkdirSync(dirname(join(root, path)), { recursive: true });
          writeFileSync(join(root, path), text);
        }
      }),
    repository: (root) => makeRepository(root, { commits: 10_000, files: 3000 }),
    shortRepository: (root) => makeRepository(root, { commits: 100, files: 3000 }),
  };
  for (const kind of needs) makers[kind](fixture[kind]);
  return fixture;
}

/** Text with the line breaks and the quotes of ordinary text, so that its escapes cost what they usually cost. */
function prose(bytes: number): string {
  const line = 'A press mark says where a book stands: "case, shelf, number", and nothing else.\n';
  return line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes);
}
