/** Colour, where it is wanted: what kind of thing a name stands for. */
import { directoryType } from "../../resources.ts";
import { choiceFlag, type CommandContext } from "../command.ts";

export const colorFlag = choiceFlag("WHEN", "use colour", { choices: ["auto", "always", "never"], initial: "auto" });

export interface Paint {
  /** A name, as its kind is shown. */
  kind(mimeType: string | undefined, text: string): string;
  /** What is not the matter itself: lines of a tree, numbers of lines. */
  faint(text: string): string;
  /** What was looked for. */
  match(text: string): string;
}

const plainly: Paint = { kind: (_, text) => text, faint: (text) => text, match: (text) => text };

export function createPaint(
  wanted: "auto" | "always" | "never",
  { out, env }: Pick<CommandContext, "out" | "env">,
): Paint {
  if (wanted === "never" || (wanted === "auto" && !isColourful(env, out.isTTY === true))) return plainly;
  const [directory, media, archive, faint, match] = ["1;34", "35", "31", "2", "1;31"].map(paint) as Colours;
  return {
    faint,
    match,
    kind(mimeType = "", text) {
      if (mimeType === directoryType) return directory(text);
      if (/^(?:image|audio|video|font)\//.test(mimeType)) return media(text);
      if (/^application\/(?:zip|gzip|x-(?:tar|gzip|bzip2|xz|7z-compressed)|zstd|java-archive|vnd\.rar)$/.test(mimeType))
        return archive(text);
      return text;
    },
  };
}

type Colours = [directory: Colour, media: Colour, archive: Colour, faint: Colour, match: Colour];
type Colour = (text: string) => string;

function paint(code: string): (text: string) => string {
  return (text) => (text === "" ? "" : `\u001b[${code}m${text}\u001b[0m`);
}

/** FORCE_COLOR is the stronger word, as it is to Node. */
function isColourful(env: CommandContext["env"], isTerminal: boolean): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  if (env["NO_COLOR"]) return false;
  return isTerminal && env["TERM"] !== "dumb";
}
