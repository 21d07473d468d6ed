/** The notes of one JSON file, `{ "path": "text" }`, as resources. Replace `readNotes` with requests to your backend. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import {
  compareAddresses,
  createPollingWatch,
  defineSource,
  directoryType,
  entriesPage,
  hasQuery,
  isDirectoryError,
  notFound,
  unavailable,
} from "pressmark/source";
import type { Address, Entry } from "pressmark/source";

export default defineSource<{ readonly file: string; readonly pollMs: number }>({
  name: "my-backend",
  summary: "Notes of a JSON file",
  scheme: "my-backend",
  options: (z) =>
    z.object({
      file: z.string().meta({ format: "path" }).describe("JSON file with a text for each path"),
      pollMs: z.int().min(10).default(5000).describe("Time between two looks for changes while someone watches"),
    }),

  async open({ file, pollMs }, { wait }) {
    const look = async (signal: AbortSignal) => statesOf(await readNotes(file, signal));
    const changes = createPollingWatch({ look, pollMs, wait });

    return {
      async list(request, { signal }) {
        const notes = await readNotes(file, signal);
        return entriesPage(sorted([...notes].map(([path, text]) => entryOf(path, text))), request);
      },

      async read(at, { signal }) {
        const notes = await readNotes(file, signal);
        const text = notes.get(pathIn(at));
        if (text !== undefined) return [{ body: { text }, mimeType: "text/plain" }];
        throw isDirectory(notes, at.path) ? isDirectoryError(at.path) : notFound(at.path);
      },

      async stat(at, { signal }) {
        const notes = await readNotes(file, signal);
        const text = notes.get(pathIn(at));
        if (text !== undefined) return entryOf(at.path, text);
        if (isDirectory(notes, at.path)) return { path: at.path, mimeType: directoryType };
        throw notFound(at.path);
      },

      async children(at, request, { signal }) {
        const notes = await readNotes(file, signal);
        if (!isDirectory(notes, pathIn(at))) throw notFound(at.path);
        const inside = at.path === "" ? "" : `${at.path}/`;
        const found = new Map<string, Entry>();
        for (const [path, text] of notes) {
          if (!path.startsWith(inside)) continue;
          const end = path.indexOf("/", inside.length);
          const child = end < 0 ? path : path.slice(0, end);
          found.set(child, end < 0 ? entryOf(path, text) : { path: child, mimeType: directoryType });
        }
        return entriesPage(sorted([...found.values()]), request);
      },

      watch: ({ signal }) => changes.watch(signal),

      close: () => changes.close(),
    };
  },
});

/** Every note by its path. The signal ends when the caller leaves, or takes too long. */
async function readNotes(file: string, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  try {
    const notes = JSON.parse(await readFile(file, { encoding: "utf8", signal })) as Record<string, string>;
    return new Map(Object.entries(notes));
  } catch (cause) {
    signal.throwIfAborted();
    // Names no path: callers see the message. Layers try again, because the failure may pass.
    throw unavailable("the notes cannot be read", cause);
  }
}

/** What a watch compares: every note with its version, and every directory, which has no content to change. */
function statesOf(notes: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const states = new Map<string, string>();
  for (const [path, text] of notes) {
    for (let end = path.indexOf("/"); end > 0; end = path.indexOf("/", end + 1)) states.set(path.slice(0, end), "");
    states.set(path, versionOf(text));
  }
  return states;
}

/** The path of an address without a query: this source knows no variables, so an address with one is missing. */
function pathIn(at: Address): string {
  if (hasQuery(at)) throw notFound(at.path);
  return at.path;
}

function entryOf(path: string, text: string): Entry {
  return { path, mimeType: "text/plain", size: Buffer.byteLength(text), version: versionOf(text) };
}

/** Directories exist through the notes below them; the mount itself always exists. */
function isDirectory(notes: ReadonlyMap<string, string>, path: string): boolean {
  return path === "" || [...notes.keys()].some((each) => each.startsWith(`${path}/`));
}

function sorted(entries: Entry[]): Entry[] {
  return entries.sort((one, other) => compareAddresses(one.path, other.path));
}

function versionOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
