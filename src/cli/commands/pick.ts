/** `pressmark pick`: chooses resources in the terminal. */
import type { ReadStream } from "node:tty";
import { defineCommand, flag, LeftError, UsageError, type Screen, type CommandContext } from "../command.ts";
import { jsonLine, plain } from "../print.ts";
import { withReadingContext } from "../reading/reading-context.ts";
import { colorFlag, createPaint } from "../reading/paint.ts";
import { budgetFlag, printPack } from "../reading/print-pack.ts";
import { resourceAccessFlags } from "../reading/resource-access.ts";
import type { PickItem } from "../pick/state.ts";

export default defineCommand({
  name: "pick",
  summary: "Choose resources in the terminal, and print them",
  more: "Type to filter, move with the arrows, choose files and folders with space, finish with enter; ? shows all keys. Ctrl-F searches contents, to choose passages. Ctrl-O offers what to do with the choice: mentions or a request for a host, copy for a chat, print, save as a set. Prints the URIs, one per line, or the contents. --pack packs them as gather does: within a budget, secrets masked, the receipt on standard error. Keys are read from standard input and the tree is drawn on standard error, so the output can be piped. Ctrl-C or Escape quits without output, with exit code 130.",
  examples: [
    "pressmark pick",
    "pressmark pick --markdown | pbcopy",
    "pressmark pick --pack --budget 20000 > context.md",
    "pressmark set add onboarding $(pressmark pick)",
    "pressmark pick --server https://example.com/mcp --header 'Authorization: Bearer ${env:TOKEN}'",
  ],
  flags: {
    markdown: flag("Print the contents unchanged, each below its path and URI"),
    pack: flag("Print a pack of them, as gather does"),
    budget: budgetFlag,
    xml: flag("Print the contents unchanged, as XML; with --pack, the pack"),
    json: flag("Print one JSON object per line: the resources; with --pack the passages and the receipt"),
    ...resourceAccessFlags,
    color: colorFlag,
  },
  async run({ flags }, world) {
    if (flags.markdown && (flags.pack || flags.json))
      throw new UsageError("--markdown cannot be combined with --pack or --json");
    if (flags.xml && (flags.markdown || flags.json))
      throw new UsageError("--xml cannot be combined with --markdown or --json");
    const screen = screenOf(world);
    await withReadingContext(flags, world, async (context) => {
      const [{ runPick }, { contentsOf, useChosen }] = await Promise.all([
        import("../pick/run-pick.ts"),
        import("../pick/use-chosen.ts"),
      ]);
      const paint = createPaint(flags.color, { out: screen, env: world.env });
      const release = context.holdWarnings();
      const terminal = { input: world.input, screen, canSave: flags.server === undefined };
      const picked = await runPick({ ...context, paint }, terminal).finally(release);
      if (!picked) throw new LeftError("nothing was chosen");
      const { items: chosen, use } = picked;
      if (use) return useChosen(use, chosen, context, { flags, world, screen });
      const uris = chosen.map(({ uri }) => uri);
      if (flags.pack) {
        const format = flags.xml ? "xml" : flags.json ? "json" : "markdown";
        await printPack({ include: uris, budget: flags.budget, format, counter: "best" }, context);
      } else if (flags.markdown || flags.xml)
        await context.print(await contentsOf(chosen, flags.xml ? "xml" : "markdown", context));
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
