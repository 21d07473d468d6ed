/** Does with the choice what the user decided: prints, copies or saves it. */
import { invalid, quote, ResourceError, toResourceError } from "../../errors.ts";
import { asMarkdown, asXml, type ResourceText } from "../../lib/format-resources.ts";
import { linesOf } from "../../lib/line-range-uri.ts";
import { isDocumentBytes, extractedUri, wholeUri } from "../../lib/passage-uri.ts";
import type { Content } from "../../resources.ts";
import type { CommandContext, Screen } from "../command.ts";
import { UsageError } from "../command.ts";
import { plain } from "../print.ts";
import { formatCount } from "../reading/amounts.ts";
import { locationOf } from "../reading/location-of.ts";
import type { ReadingContext } from "../reading/reading-context.ts";
import type { ResourceAccessFlags } from "../reading/resource-access.ts";
import { filesBelow } from "./files-below.ts";
import type { PickItem } from "./state.ts";
import type { PickUse } from "./use-menu.ts";

/** Terminals ignore longer texts: xterm takes 100,000 characters of base64. */
const maxCopied = 74_000;

interface UseOptions {
  readonly flags: ResourceAccessFlags;
  readonly world: CommandContext;
  /** The terminal, which puts a text into the clipboard. */
  readonly screen: Screen;
}

export async function useChosen(
  use: PickUse,
  items: readonly PickItem[],
  context: ReadingContext,
  { flags, world, screen }: UseOptions,
): Promise<void> {
  const uris = items.map(({ uri }) => uri);
  switch (use.kind) {
    case "uris":
      return context.print(uris.map((uri) => `${plain(uri)}\n`).join(""));
    case "prompt":
      return context.print(`${use.text.trimEnd()}\n`);
    case "contents":
      return context.print(await contentsOf(items, use.format, context));
    case "copy": {
      const text = await contentsOf(items, use.format, context);
      const bytes = Buffer.from(text);
      screen.write(`\u001b]52;c;${bytes.toString("base64")}\u0007`);
      const size = bytes.length > maxCopied ? "; it is long, and your terminal may have ignored it" : "";
      return context.warn(
        `sent ${formatCount(text.length, "character")} to the clipboard (OSC 52)${size}; if nothing was copied, use: pressmark pick --${use.format}`,
      );
    }
    case "set":
      return saveAsSet(use.name, uris, context, { flags, world });
  }
}

/** The texts under their paths. Reports what has no text. */
export async function contentsOf(
  items: readonly PickItem[],
  format: "markdown" | "xml",
  context: ReadingContext,
): Promise<string> {
  const { call, roots, warn } = context;
  const texts: ResourceText[] = [];
  for (const { uri, isDirectory } of items) {
    try {
      const { files, isCut } = isDirectory ? await filesBelow(uri, context, call) : { files: [{ uri }], isCut: false };
      if (isCut) throw invalid(`${quote(locationOf(roots, uri))} has more than 10,000 files; choose folders inside it`);
      for (const { uri: file } of files)
        for (const { uri: own, mimeType, body } of await textsOf(file, context))
          if ("text" in body)
            texts.push({ resource: { uri: own, name: nameOf(own, context), mimeType }, text: body.text });
          else warn(`left out: ${plain(locationOf(roots, own))} has no text`);
    } catch (cause) {
      if (call.signal.aborted) throw cause;
      warn(plain(toResourceError(cause).message));
    }
  }
  if (texts.length === 0)
    throw new ResourceError("unavailable", "none of the chosen resources could be read as text; see above");
  return format === "xml" ? asXml(texts) : asMarkdown(texts);
}

/** The contents of a resource; of a document, its extracted text. */
async function textsOf(uri: string, { resources, call }: ReadingContext): Promise<readonly Content[]> {
  const { contents } = await resources.read(uri, call);
  return isDocumentBytes(uri, contents) ? (await resources.read(extractedUri(uri), call)).contents : contents;
}

/** `設計/決済.md:12-20` */
function nameOf(uri: string, { roots }: ReadingContext): string {
  const lines = linesOf(uri);
  const path = plain(locationOf(roots, wholeUri(uri)));
  return lines ? `${path}:${lines[0]}-${lines[1] === Infinity ? "" : lines[1]}` : path;
}

async function saveAsSet(
  name: string,
  uris: readonly string[],
  context: ReadingContext,
  { flags: { folder, config, server }, world: { folder: from, env, err } }: Pick<UseOptions, "flags" | "world">,
): Promise<void> {
  if (server !== undefined) throw new UsageError("sets of another server cannot be changed from here");
  const { changeSet } = await import("../../server/sets/change-set.ts");
  const { place, resources } = await changeSet(
    { name, add: uris },
    { folders: folder, config, from, env, err },
    context.call,
  );
  context.warn(
    `the set ${quote(name)} holds ${formatCount(resources?.length ?? 0, "resource")}, and is stored in ${plain(place)}`,
  );
}
