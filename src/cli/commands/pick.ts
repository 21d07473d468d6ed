/** `pressmark pick`: choose resources in the terminal. */
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
  more: "Type to filter, move with the arrows, choose with space, finish with enter; ? shows all keys. Prints the URIs, one a line, or the contents; a pack is what gather makes of them: within a budget, secrets masked, its receipt on standard error. The keys come from standard input and the tree is drawn on standard error, so that the output can be sent on. Leaving with Ctrl-C or Escape prints nothing; the exit code is then 130.",
  examples: [
    "pressmark pick",
    "pressmark pick --markdown | pbcopy",
    "pressmark pick --pack --budget 20000 > context.md",
    "pressmark set add onboarding $(pressmark pick)",
    "pressmark pick --server https://example.com/mcp --header 'Authorization: Bearer ${env:TOKEN}'",
  ],
  flags: {
    markdown: flag("print the contents as they are, each below its URI"),
    pack: flag("print a pack of them, as gather does"),
    budget: budgetFlag,
    xml: flag("print the pack as XML"),
    json: flag("print one JSON object a line: the resources; or with --pack the passages and the receipt"),
    ...resourceAccessFlags,
    color: colorFlag,
  },
  async run({ flags }, world) {
    if (flags.markdown && (flags.pack || flags.json))
      throw new UsageError("say --markdown or something else, not both");
    if (flags.xml && (!flags.pack || flags.json)) throw new UsageError("--xml goes with --pack, and without --json");
    const screen = screenOf(world);
    await withReadingContext(flags, world, async (context) => {
      const { runPick } = await import("../pick/run-pick.ts");
      const paint = createPaint(flags.color, { out: screen, env: world.env });
      const chosen = await runPick({ ...context, paint }, { input: world.input, screen });
      if (!chosen) throw new LeftError("left without a choice");
      const uris = chosen.map(({ uri }) => uri);
      if (flags.pack) {
        const format = flags.xml ? "xml" : flags.json ? "json" : "markdown";
        await printPack({ include: uris, budget: flags.budget, format }, context);
      } else if (flags.markdown) await context.print(await asMarkdown(uris, context));
      else
        await context.print(flags.json ? chosen.map(asJson).join("") : uris.map((uri) => `${plain(uri)}\n`).join(""));
    });
  },
});

/** Where the person looks. */
function screenOf({ input, err, out }: CommandContext): Screen {
  const isKeyboard = (input as Partial<ReadStream>).isTTY === true;
  const screen = err.isTTY ? err : out.isTTY ? out : undefined;
  if (isKeyboard && screen) return screen;
  throw new UsageError(
    `pick needs a terminal, to show the tree and to take keys; without one, "pressmark ls" and "pressmark search" print URIs`,
  );
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
  if (contents.length === 0) throw new ResourceError("unavailable", "nothing of it could be read; see above");
  return contents.map(inFence).join("\n");
}

function inFence({ uri, mimeType = "", body }: Content): string {
  const title = `## ${plain(uri)}\n\n`;
  if (!("text" in body)) return `${title}(${plain(mimeType) || "bytes"}, ${body.bytes.length} bytes)\n`;
  // Longer than any run of backticks within.
  const longest = Math.max(2, ...Array.from(body.text.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${title}${fence}\n${body.text.replace(/\n?$/, "\n")}${fence}\n`;
}
