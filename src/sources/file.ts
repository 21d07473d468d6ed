/** Files below one folder. */
import { pathToFileURL } from "node:url";
import { folderOptions } from "../backends/disk/folder-options.ts";
import { openFolder, realRoot, type FolderOptions } from "../backends/disk/open-folder.ts";
import { defineSource } from "../source.ts";

export default defineSource<FolderOptions>({
  name: "file",
  summary: "Files below one folder",
  scheme: "file",
  options: (z) =>
    z.object({
      root: z.string().min(1).describe("Folder to serve").meta({ format: "path" }),
      ...folderOptions(z),
    }),

  base: ({ root }) => pathToFileURL(`${realRoot(root).replace(/\/$/, "")}/`).href,

  open: async (options, runtime) => openFolder(options, runtime),
});
