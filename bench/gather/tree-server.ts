/** One tree of a repository after another as a server: the same router, index and search that people are served with. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPolicy } from "../../src/access/policy.ts";
import { notFound } from "../../src/errors.ts";
import { mimeOfName } from "../../src/lib/mime.ts";
import type { Resources } from "../../src/resources.ts";
import { createResources } from "../../src/router/create-resources.ts";
import { openStore } from "../../src/search/sqlite-store.ts";
import { createRuntime } from "../../src/server/runtime.ts";
import { directoryType } from "../../src/resources.ts";
import type { Entry } from "../../src/source.ts";
import { readBlobs, readTree } from "./history.ts";

export const base = "tree://r/";

export interface TreeServer {
  readonly resources: Resources;
  /** Path → text of what is there now. */
  readonly texts: ReadonlyMap<string, string>;
  /** Goes to another tree; what comes in and what goes is told. */
  goTo(commit: string): { readonly added: readonly string[]; readonly gone: readonly string[] };
  close(): Promise<void>;
}

export function openTreeServer(repository: string): TreeServer {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-gather-"));
  const store = openStore(join(folder, "index.db"));
  const texts = new Map<string, string>();
  const blobs = new Map<string, string>();

  const resources = createResources({
    mounts: [
      {
        name: "r",
        base,
        source: {
          list: async () => ({ items: [...texts.keys()].toSorted().map(toEntry) }),
          async read({ path }) {
            const text = texts.get(path);
            if (text === undefined) throw notFound(path);
            return [{ body: { text } }];
          },
          async stat({ path }) {
            if (texts.has(path)) return toEntry(path);
            for (const other of texts.keys())
              if (path === "" || other.startsWith(`${path}/`)) return { path, mimeType: directoryType };
            throw notFound(path);
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
            if (names.size === 0) throw notFound(path);
            return { items: [...names.keys()].toSorted().map((name) => names.get(name)!) };
          },
        },
      },
    ],
    policy: openPolicy,
    runtime: createRuntime(process.stderr),
    cursorKey: new Uint8Array(32),
    index: { ready: () => 1, problem: () => undefined, search: async (ask) => store.search(ask) },
  });

  return {
    resources,
    texts,
    goTo(commit) {
      const tree = new Map(readTree(repository, commit).map(({ path, blob }) => [path, blob]));
      const gone = [...blobs.keys()].filter((path) => tree.get(path) !== blobs.get(path));
      const wanted = [...tree].filter(([path, blob]) => blobs.get(path) !== blob);
      const read = readBlobs(repository, [...new Set(wanted.map(([, blob]) => blob))]);
      store.remove(
        "r",
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
          added.slice(at, at + 200).map((path) => ({ mount: "r", entry: toEntry(path), text: texts.get(path)! })),
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
