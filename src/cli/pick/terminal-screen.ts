/** Controls the terminal while picking: raw keys in, frames out; restores it afterwards. */
import type { Readable } from "node:stream";
import type { ReadStream } from "node:tty";
import type { Screen } from "../command.ts";
import type { TerminalFrame } from "./draw.ts";
import { createKeys, type KeyPress } from "./keys.ts";

interface TerminalScreenOptions {
  readonly input: Readable;
  readonly screen: Screen;
  pressed(key: KeyPress): void;
  resized(columns: number, rows: number): void;
  /** Standard input has ended. */
  closed(): void;
}

const enter = "\u001b[?1049h\u001b[2J";
const restore = "\u001b[?1049l";

export function openTerminalScreen({ input, screen, pressed, resized, closed }: TerminalScreenOptions) {
  const keysOf = createKeys();
  const terminal = input as Readable & Partial<Pick<ReadStream, "setRawMode">>;
  let before: readonly string[] = [];
  const size = () => ({ columns: Math.max(10, screen.columns || 80), rows: Math.max(4, screen.rows || 24) });

  const take = (bytes: Uint8Array) => {
    for (const key of keysOf(bytes)) pressed(key);
  };
  const resize = () => {
    before = [];
    screen.write("\u001b[2J");
    resized(size().columns, size().rows);
  };
  terminal.setRawMode?.(true);
  input.on("data", take);
  input.on("end", closed);
  input.resume();
  screen.on("resize", resize);
  screen.write(enter);

  return {
    size,
    /** Writes only the lines that changed. */
    show({ lines, cursor }: TerminalFrame): void {
      let written = "";
      for (const [index, line] of lines.entries())
        if (line !== before[index]) written += `\u001b[${index + 1};1H${line}\u001b[0m\u001b[K`;
      before = lines;
      screen.write(`\u001b[?25l${written}\u001b[${cursor.row};${cursor.column}H\u001b[?25h`);
    },
    /** Restores the terminal. */
    leave(): void {
      input.off("data", take);
      input.off("end", closed);
      screen.off("resize", resize);
      terminal.setRawMode?.(false);
      input.pause();
      screen.write(restore);
    },
  };
}
