/** `pressmark pick`: choose resources in the terminal. */
import type { ReadStream } from "node:tty";
import { ResourceError, toResourceError } from "../../errors.ts";
import type { Content } from "../../resources.ts";
import { defineCommand, flag, LeftError, UsageError, type Screen, type World } from "../command.ts";
import { jsonLine, plain } from "../print.ts";
import { atDesk, type Desk } from "../reading/desk.ts";
import { colorFlag, createPaint } from "../reading/paint.ts";
import { reachFlags } from "../reading/reach.ts";
import { estimateTokens } from "../pick/estimate-tokens.ts";
import type { Item } from "../pick/state.ts";

export default defineCommand({
  name: "pick",
  summary: "Choose resources in the terminal, and print them",
  more: "Type to filter, move with the arrows, choose with space, finish with enter; ? shows all keys. Prints the URIs, one a line, or their contents. The keys come from standard input and the tree is drawn on standard error, so that the output can be sent on. Leaving with Ctrl-C or Escape prints nothing; the exit code is then 130.",
  examples: [
    "pressmark pick",
    "pressmark pick --markdown | pbcopy",
    "pressmark set add onboarding $(pressmark pick)",
    "pressmark pick --server https://example.com/mcp --pack > context.json",
  ],
  flags: {
    markdown: flag("print the contents as Markdown, each below its URI"),
    pack: flag("print one JSON object: the contents, their URIs, and about how many tokens they take"),
    ...reachFlags,
    color: colorFlag,
  },
  async run({ flags }, world) {
    if (flags.markdown && flags.pack) throw new UsageError("say --markdown or --pack, not both");
    const screen = screenOf(world);
    await atDesk(flags, world, async (desk) => {
      const { runPick } = await import("../pick/run-pick.ts");
      const paint = createPaint(flags.color, { out: screen, env: world.env });
      const chosen = await runPick({ ...desk, paint }, { input: world.input, screen });
      if (!chosen) throw new LeftError("left without a choice");
      await desk.print(await output(chosen, flags, desk));
    });
  },
});

/** Where the person looks. */
function screenOf({ input, err, out }: World): Screen {
  const isKeyboard = (input as Partial<ReadStream>).isTTY === true;
  const screen = err.isTTY ? err : out.isTTY ? out : undefined;
  if (isKeyboard && screen) return screen;
  throw new UsageError(
    `pick needs a terminal, to show the tree and to take keys; without one, "pressmark ls" and "pressmark search" print URIs`,
  );
}

async function output(
  chosen: readonly Item[],
  { markdown, pack }: { readonly markdown: boolean; readonly pack: boolean },
  desk: Desk,
): Promise<string> {
  if (!markdown && !pack) return chosen.map(({ uri }) => `${plain(uri)}\n`).join("");
  const contents: Content[] = [];
  let isWhole = true;
  for (const { uri } of chosen) {
    try {
      contents.push(...(await desk.resources.read(uri, desk.call)).contents);
    } catch (cause) {
      if (desk.call.signal.aborted) throw cause;
      isWhole = false;
      desk.warn(plain(toResourceError(cause).message));
    }
  }
  if (!isWhole && contents.length === 0)
    throw new ResourceError("unavailable", "nothing of it could be read; see above");
  return markdown ? contents.map(asMarkdown).join("\n") : asPack(contents);
}

function asMarkdown({ uri, mimeType = "", body }: Content): string {
  const title = `## ${plain(uri)}\n\n`;
  if (!("text" in body)) return `${title}(${plain(mimeType) || "bytes"}, ${body.bytes.length} bytes)\n`;
  // Longer than any run of backticks within.
  const longest = Math.max(2, ...Array.from(body.text.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${title}${fence}\n${body.text.replace(/\n?$/, "\n")}${fence}\n`;
}

function asPack(contents: readonly Content[]): string {
  const items = contents.map(({ uri, mimeType, body }) =>
    "text" in body
      ? { uri, mimeType, tokens: estimateTokens(body.text), text: body.text }
      : { uri, mimeType, base64: Buffer.from(body.bytes).toString("base64") },
  );
  return jsonLine({ tokens: items.reduce((sum, { tokens = 0 }) => sum + tokens, 0), items });
}
