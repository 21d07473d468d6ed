/** `pressmark pick`: chooses resources in the terminal. */
import type { ReadStream } from "node:tty";
import { ResourceError, toResourceError } from "../../errors.ts";
import type { Content } from "../../resources.ts";
import { defineCommand, flag, LeftError, UsageError, type Screen, type CommandContext } from "../command.ts";
import { jsonLine, plain } from "../print.ts";
import { withReadingContext, type ReadingContext } from "../reading/reading-context.ts";
import { colorFlag, createPaint } from "../reading/paint.ts";
import { budgetFlag, printPack } from "../reading/print-pack.ts";
import { resourceAccessFlags } from "../reading/resource-access.ts";
import type { PickItem } from "../pick/state.ts";

export default defineCommand({
  name: "pick",
  summary: "Choose resources in the terminal, and print them",
  more: "Type to filter, move with the arrows, choose with space, finish with enter; ? shows all keys. Prints the URIs, one per line, or the contents. --pack packs them as gather does: within a budget, secrets masked, the receipt on standard error. Keys are read from standard input and the tree is drawn on standard error, so the output can be piped. Ctrl-C or Escape quits without output, with exit code 130.",
  examples: [
    "pressmark pick",
    "pressmark pick --markdown | pbcopy",
    "pressmark pick --pack --budget 20000 > context.md",
    "pressmark set add onboarding $(pressmark pick)",
    "pressmark pick --server https://example.com/mcp --header 'Authorization: Bearer ${env:TOKEN}'",
  ],
  flags: {
    markdown: flag("Print the contents unchanged, each below its URI"),
    pack: flag("Print a pack of them, as gather does"),
    budget: budgetFlag,
    xml: flag("Print the pack as XML"),
    json: flag("Print one JSON object per line: the resources; with --pack the passages and the receipt"),
    ...resourceAccessFlags,
    color: colorFlag,
  },
  async run({ flags }, world) {
    if (flags.markdown && (flags.pack || flags.json))
      throw new UsageError("--markdown cannot be combined with --pack or --json");
    if (flags.xml && (!flags.pack || flags.json))
      throw new UsageError("--xml works only with --pack, and without --json");
    const screen = screenOf(world);
    await withReadingContext(flags, world, async (context) => {
      const { runPick } = await import("../pick/run-pick.ts");
      const paint = createPaint(flags.color, { out: screen, env: world.env });
      const chosen = await runPick({ ...context, paint }, { input: world.input, screen });
      if (!chosen) throw new LeftError("nothing was chosen");
      const uris = chosen.map(({ uri }) => uri);
      if (flags.pack) {
        const format = flags.xml ? "xml" : flags.json ? "json" : "markdown";
        await printPack({ include: uris, budget: flags.budget, format, counter: "best" }, context);
      } else if (flags.markdown) await context.print(await asMarkdown(uris, context));
      else
        await context.print(flags.json ? chosen.map(asJson).join("") : uris.map((uri) => `${plain(uri)}\n`).join(""));
    });
  },
});

/** The stream that is a terminal. */
function screenOf({ input, err, out }: CommandContext): Screen {
  const isKeyboard = (input as Partial<ReadStream>).isTTY === true;
  const screen = err.isTTY ? err : out.isTTY ? out : undefined;
  if (isKeyboard && screen) return screen;
  throw new UsageError(`pick needs a terminal; without one, "pressmark ls" and "pressmark search" print URIs`);
}

function asJson({ uri, name, mimeType, size }: PickItem): string {
  return jsonLine({ uri, name, mimeType, size });
}

async function asMarkdown(uris: readonly string[], { resources, call, warn }: ReadingContext): Promise<string> {
  const contents: Content[] = [];
  for (const uri of uris) {
    try {
      contents.push(...(await resources.read(uri, call)).contents);
    } catch (cause) {
      if (call.signal.aborted) throw cause;
      warn(plain(toResourceError(cause).message));
    }
  }
  if (contents.length === 0)
    throw new ResourceError("unavailable", "none of the chosen resources could be read; see above");
  return contents.map(inFence).join("\n");
}

function inFence({ uri, mimeType = "", body }: Content): string {
  const title = `## ${plain(uri)}\n\n`;
  if (!("text" in body)) return `${title}(${plain(mimeType) || "bytes"}, ${body.bytes.length} bytes)\n`;
  // Longer than any run of backticks in the text.
  const longest = Math.max(2, ...Array.from(body.text.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${title}${fence}\n${body.text.replace(/\n?$/, "\n")}${fence}\n`;
}
