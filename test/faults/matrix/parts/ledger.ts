/** The ledger of a Drive in the cache folder; the Drive itself is the fake one. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startFakeDrive } from "../../../../src/testing/fakes/gdrive.ts";
import { listNames, type PartDefinition, readText, searchNames } from "../part.ts";
import { filesBelow } from "./index.ts";

const prefix = "gdrive://file/";
const idOf = (name: string) => name.replace(".md", "");
const nameOf = (uri: string) => (uri.startsWith(prefix) ? `${uri.slice(prefix.length)}.md` : undefined);

export const ledger: PartDefinition = {
  name: "ledger",
  folder: "cache/pressmark/gdrive",

  async open(stage) {
    const drive = await startFakeDrive();
    const config = join(stage.root, "pressmark.config.json");
    const mount = { source: "gdrive", anonymous: true, rootUrl: drive.rootUrl, pollMs: 1000 };
    writeFileSync(config, JSON.stringify({ mounts: { drive: mount } }));
    return {
      start: (options) => stage.serve({ ...options, config }),
      async put(name, text) {
        drive.document(idOf(name), text, { name });
      },
      async remove(name) {
        drive.remove(idOf(name));
      },
      list: (server) => listNames(server, nameOf),
      search: (server) => searchNames(server, nameOf),
      read: (server, name) => readText(server, `${prefix}${idOf(name)}`),
      watches: (name) => ({ uris: [`${prefix}${idOf(name)}`] }),
      files: () => filesBelow(join(stage.cache, "pressmark", "gdrive")),
      close: () => drive.close(),
    };
  },
};
