/**
 * One state of a repository after another as a server: its files and its history up to that commit, in the same router, index and search
 * that people are served with.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mimeOfName } from "../../src/lib/mime.ts";
import { directoryType, type Resources } from "../../src/resources.ts";
import type { Entry } from "../../src/source.ts";
import { readBlobs, readTree } from "./history.ts";
import { createPastClone } from "./past-clone.ts";
import type { Product } from "./product.ts";
import type { MeasuredRepository } from "./repositories.ts";

export interface TreeServer {
  readonly resources: Resources;
  /** Where the files and the history are mounted. */
  readonly base: string;
  readonly history: string;
  /** Path → text of what is there now. */
  readonly texts: ReadonlyMap<string, string>;
  /** Goes to a later commit; returns the paths that came in and those that went. */
  goTo(commit: string): Promise<{ readonly added: readonly string[]; readonly gone: readonly string[] }>;
  close(): Promise<void>;
}

const files = "files";
const commits = "history";
const signal = new AbortController().signal;

export async function openTreeServer(
  { name, folder: repository, below = "" }: MeasuredRepository,
  product: Product,
): Promise<TreeServer> {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-gather-"));
  const store = product.openStore(join(folder, "index.db"));
  const runtime = product.createRuntime(process.stderr);
  const clone = createPastClone(repository, join(folder, "clone"));
  const git = await product.git.open({ root: clone.folder }, runtime);
  const texts = new Map<string, string>();
  const blobs = new Map<string, string>();
  const base = `file:///repositories/${name}/`;
  const history = `git://${name}/`;

  const resources = product.createResources({
    mounts: [
      {
        name: files,
        base,
        source: {
          list: async () => ({ items: [...texts.keys()].toSorted().map(toEntry) }),
          async read({ path }) {
            const text = texts.get(path);
            if (text === undefined) throw product.notFound(path);
            return [{ body: { text } }];
          },
          async stat({ path }) {
            if (texts.has(path)) return toEntry(path);
            for (const other of texts.keys())
              if (path === "" || other.startsWith(`${path}/`)) return { path, mimeType: directoryType };
            throw product.notFound(path);
          },
          async children({ path }) {
            const start = path === "" ? "" : `${path}/`;
            const names = new Map<string, Entry>();
            for (const other of texts.keys()) {
              if (!other.startsWith(start)) continue;
              const slash = other.indexOf("/", start.length);
              const child = slash === -1 ? other : other.slice(0, slash);
              names.set(child, slash === -1 ? toEntry(child) : { path: child, mimeType: directoryType });
            }
            if (names.size === 0) throw product.notFound(path);
            return { items: [...names.keys()].toSorted().map((child) => names.get(child)!) };
          },
        },
      },
      { name: commits, base: history, source: git },
    ],
    policy: product.openPolicy,
    runtime,
    cursorKey: new Uint8Array(32),
    index: { ready: () => 1, problem: () => undefined, search: async (ask) => store.search(ask) },
  });
  const crawl = product.createCrawl({
    mount: commits,
    source: git,
    store,
    runtime,
    isWatched: true,
    once: true,
    maxFileBytes: 1024 * 1024,
    mayGrow: () => true,
    moved: () => undefined,
  });
  let isIndexed = false;

  async function indexCommits(commit: string): Promise<void> {
    const hashes = clone.goTo(commit);
    if (isIndexed) crawl.hear(hashes.map((hash) => ({ kind: "appeared", path: `commit/${hash}` })));
    isIndexed = true;
    await crawl.run(signal);
    const { phase, total, lastError } = crawl.state;
    if (phase !== "complete" || total === 0)
      throw new Error(`the commits of ${name} could not be indexed: ${phase}, ${lastError}`);
  }

  return {
    resources,
    base,
    history,
    texts,
    async goTo(commit) {
      await indexCommits(commit);
      const tree = new Map(
        readTree(repository, commit)
          .filter(({ path }) => path.startsWith(below))
          .map(({ path, blob }) => [path, blob]),
      );
      const gone = [...blobs.keys()].filter((path) => tree.get(path) !== blobs.get(path));
      const wanted = [...tree].filter(([path, blob]) => blobs.get(path) !== blob);
      const read = readBlobs(repository, [...new Set(wanted.map(([, blob]) => blob))]);
      store.remove(
        files,
        gone.map((path) => ({ path })),
      );
      for (const path of gone) {
        blobs.delete(path);
        texts.delete(path);
      }
      const added: string[] = [];
      for (const [path, blob] of wanted) {
        blobs.set(path, blob);
        const text = read.get(blob);
        if (text === undefined) continue;
        texts.set(path, text);
        added.push(path);
      }
      for (let at = 0; at < added.length; at += 200)
        store.put(
          added.slice(at, at + 200).map((path) => ({ mount: files, entry: toEntry(path), text: texts.get(path)! })),
        );
      return { added, gone };
    },
    async close() {
      await resources.close();
      store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function toEntry(path: string): Entry {
  const mimeType = mimeOfName(path);
  return { path, name: path.slice(path.lastIndexOf("/") + 1), ...(mimeType && { mimeType }) };
}
