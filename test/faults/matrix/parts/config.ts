/** A config file that is changed while the server runs: each name is a mount, and sets are added by the command. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parse, stringify } from "yaml";
import { listNames, type PartDefinition, readText, searchNames } from "../part.ts";

interface Written {
  mounts: Record<string, { source: "file"; root: string }>;
  sets?: Record<string, unknown>;
}

const mountOf = (name: string) => name.replace(".md", "");
const nameOf = (uri: string) => (uri.startsWith("file:") ? basename(fileURLToPath(uri)) : undefined);

export const config: PartDefinition = {
  name: "config",
  folder: "config",

  async open(stage) {
    const file = join(stage.root, "config", "pressmark.config.yaml");
    const folderOf = (name: string) => join(stage.folder, mountOf(name));
    const acknowledgedSets = new Set<string>();
    let written: Written = { mounts: {} };
    let changes = 0;
    let hasStarted = false;
    let last: Promise<unknown> = Promise.resolve();

    /** An editor takes no lock: it must not write while a command does, or it would undo the change of the command. */
    function inOrder(work: () => void | Promise<void>): Promise<void> {
      const done = last.then(work);
      last = done.catch(() => undefined);
      return done;
    }

    /** Saves as editors do: every other time over the file, otherwise beside it and then under its name. */
    function save(next: Written): void {
      changes += 1;
      const draft = changes % 2 === 0 ? file : `${file}.draft`;
      writeFileSync(draft, stringify(next));
      if (draft !== file) renameSync(draft, file);
      written = next;
    }

    /** What was written, with the sets that commands have added. A garbled file may still parse, with other mounts. */
    function current(): Written {
      try {
        const found = parse(readFileSync(file, "utf8")) as Written;
        return typeof found?.mounts === "object" ? { ...found, mounts: written.mounts } : written;
      } catch {
        return written;
      }
    }

    return {
      async start(options) {
        hasStarted = true;
        return stage.serve({ ...options, config: file });
      },
      put: (name, text) =>
        inOrder(async () => {
          mkdirSync(folderOf(name), { recursive: true });
          writeFileSync(join(folderOf(name), name), text);
          const now = current();
          const mount = { source: "file", root: folderOf(name) } as const;
          if (now.mounts[mountOf(name)] === undefined)
            save({ ...now, mounts: { ...now.mounts, [mountOf(name)]: mount } });
          if (!hasStarted || changes % 4 !== 0) return;
          const set = `set-${changes}`;
          const added = await stage.run(["set", "add", set, join(folderOf(name), name), "--config", file]);
          if (added.code !== 0) return;
          acknowledgedSets.add(set);
          written = current();
        }),
      remove: (name) =>
        inOrder(() => {
          const now = current();
          const { [mountOf(name)]: _, ...mounts } = now.mounts;
          save({ ...now, mounts });
        }),
      list: (server) => listNames(server, nameOf),
      search: (server) => searchNames(server, nameOf),
      read: (server, name) => readText(server, pathToFileURL(join(folderOf(name), name)).href),
      watches: (name) => ({ uris: [pathToFileURL(join(folderOf(name), name)).href] }),
      /** In the file: a set of which nothing is served is not listed. */
      async alsoHolds() {
        const { sets = {} } = parse(readFileSync(file, "utf8")) as Written;
        const lost = [...acknowledgedSets].filter((set) => !(set in sets));
        if (lost.length > 0) throw new Error(`sets that were acknowledged are gone: ${lost.join(", ")}`);
      },
      files: () => [file],
      async repair() {
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, stringify(written));
      },
    };
  },
};
