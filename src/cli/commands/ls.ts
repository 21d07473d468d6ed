/** `pressmark ls`: what a house would list. */
import type { Call, Page, PageAsk, Resource } from "../../resources.ts";
import { directoryType } from "../../resources.ts";
import { ResourceError } from "../../errors.ts";
import { defineCommand, flag, listFlag, optional, type World } from "../command.ts";
import { plain, print } from "../print.ts";

export default defineCommand({
  name: "ls",
  summary: "List the resources of a folder",
  more: "Lists every resource of the current folder, or the direct children of one directory. A terminal is shown size, type and URI; a pipe is given one URI a line.",
  examples: ["pressmark ls", "pressmark ls docs", "pressmark ls --json | jq .size"],
  takes: { where: optional("a directory: its URI, or its path within the folder", "folders") },
  flags: {
    folder: listFlag("FOLDER", "look in this folder instead of the current one; may be given again", "folders"),
    all: flag("everything below the directory, not only its children", { short: "a" }),
    json: flag("one JSON object a line"),
  },
  async run({ where, flags: { folder: folders, all, json } }, world) {
    const { openHouse } = await import("../../server/open-house.ts");
    const house = await openHouse({ folders, from: world.folder, env: world.env, err: world.err });
    try {
      const { resources, locate } = house;
      const call: Call = { caller: { id: "local" }, signal: world.signal };
      const uri = where === undefined ? undefined : await locate(where, call);
      const ask =
        uri === undefined || all
          ? (page: PageAsk) => resources.list(page, call)
          : (page: PageAsk) => resources.children(uri, page, call);
      // A directory that is not there must not look like an empty one.
      if (uri !== undefined && all) await resources.children(uri, {}, call);
      const below = uri === undefined || !all ? "" : uri.endsWith("/") ? uri : `${uri}/`;
      await printPages(ask, below, json ? jsonLine : world.out.isTTY ? columns : uriLine, world);
    } finally {
      await house.close();
    }
  },
});

async function printPages(
  ask: (page: PageAsk) => Promise<Page<Resource>>,
  below: string,
  line: (resource: Resource) => string,
  { out, err }: World,
): Promise<void> {
  let cursor: string | undefined;
  const failed = new Set<string>();
  do {
    const page = await ask(cursor === undefined ? {} : { cursor });
    for (const { mount, message } of page.failures ?? []) {
      if (!failed.has(mount)) err.write(`pressmark: mount ${JSON.stringify(mount)}: ${plain(message)}\n`);
      failed.add(mount);
    }
    const lines = page.items.filter(({ uri }) => uri.startsWith(below)).map(line);
    if (lines.length > 0) await print(out, lines.join(""));
    cursor = page.next;
  } while (cursor !== undefined);
  if (failed.size > 0) throw new ResourceError("unavailable", "the list is not complete; see above");
}

function jsonLine(resource: Resource): string {
  return `${JSON.stringify(resource)}\n`;
}

function uriLine({ uri }: Resource): string {
  return `${uri}\n`;
}

function columns({ uri, mimeType = "", size }: Resource): string {
  const type = mimeType === directoryType ? "directory" : plain(mimeType);
  return `${(size === undefined ? "" : inUnits(size)).padStart(8)}  ${type.padEnd(24)}  ${plain(uri)}\n`;
}

function inUnits(bytes: number): string {
  let amount = bytes;
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (amount < 1000) return `${unit === "B" ? amount : amount.toFixed(1)} ${unit}`;
    amount /= 1000;
  }
  return `${amount.toFixed(1)} TB`;
}
