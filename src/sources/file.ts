/** Files below one folder. */
import { pathToFileURL } from "node:url";
import { folderOptions } from "../backends/disk/folder-options.ts";
import { openFolder, realRoot, type FolderOptions } from "../backends/disk/open-folder.ts";
import { defineSource } from "../source.ts";

export type { FolderOptions } from "../backends/disk/open-folder.ts";
export type { RuleChoice } from "../backends/folder-rules/name-rules.ts";

export default defineSource<FolderOptions>({
  name: "file",
  summary: "Files below one folder",
  scheme: "file",
  options: (z) =>
    z.object({
      root: z.string().min(1).describe("Folder to serve").meta({ format: "path" }),
      ...folderOptions(z),
      ocr: z
        .union([
          z.boolean(),
          z
            .array(z.string().regex(/^[a-z]{3}(?:_[a-z]{3,8})?$/))
            .min(1)
            .max(5),
        ])
        .default(false)
        .describe(
          "Whether to recognize the text of pictures with the program tesseract, for as=text and search, or its languages, as in [jpn, eng]",
        ),
    }),

  base: ({ root }) => pathToFileURL(`${realRoot(root).replace(/\/$/, "")}/`).href,

  open: async (options, runtime) => openFolder(options, runtime),
});
