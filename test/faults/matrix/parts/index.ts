/** The search index in the cache folder, over a served folder of files. */
import { readdirSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { commonWord, listNames, type PartDefinition, readText, searchNames } from "../part.ts";

const nameOf = (uri: string) => (uri.startsWith("file:") ? basename(decodeURI(uri)) : undefined);

export const index: PartDefinition = {
  name: "index",
  folder: "cache",

  async open(stage) {
    return {
      start: (options) => stage.serve(options),
      async put(name, text) {
        stage.write(name, text);
      },
      async remove(name) {
        rmSync(join(stage.folder, name), { force: true });
      },
      list: (server) => listNames(server, nameOf),
      search: (server) => searchNames(server, nameOf),
      read: (server, name) => readText(server, stage.uri(name)),
      watches: (name) => ({ uris: [stage.uri(name)] }),
      alsoHolds: (server) => stage.untilTrue(server, commonWord),
      files: () => [stage.indexFolder, ...filesBelow(stage.indexFolder)],
    };
  },
};

/** Paths of all files below a folder, which may be missing. */
export function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((path) => join(folder, path))
      .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
      .sort();
  } catch {
    return [];
  }
}
