/** Colours output by kind of resource. */
import { directoryType } from "../../resources.ts";
import { choiceFlag, type CommandContext } from "../command.ts";

export const colorFlag = choiceFlag("WHEN", "Use colour", { choices: ["auto", "always", "never"], initial: "auto" });

export interface Paint {
  /** Colours a name by its type. */
  kind(mimeType: string | undefined, text: string): string;
  /** For secondary text: tree lines, line numbers. */
  faint(text: string): string;
  /** For a match. */
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

/** FORCE_COLOR takes precedence over NO_COLOR, as in Node. */
function isColourful(env: CommandContext["env"], isTerminal: boolean): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  if (env["NO_COLOR"]) return false;
  return isTerminal && env["TERM"] !== "dumb";
}
