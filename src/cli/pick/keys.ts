/** Decodes the bytes that a terminal sends into key presses. */
import { StringDecoder } from "node:string_decoder";

const controls = {
  "\u0003": "interrupt",
  "\u0008": "backspace",
  "\u007f": "backspace",
  "\u0009": "tab",
  "\u0006": "search",
  "\u0017": "whole",
  "\u000f": "use",
  "\u000d": "enter",
  "\u000a": "enter",
  "\u000e": "down",
  "\u0010": "up",
  "\u0015": "clear",
  " ": "space",
  "?": "help",
} as const;

/** Sequences after ESC, as common terminals send them. */
const sequences = {
  "[A": "up",
  "[B": "down",
  "[C": "right",
  "[D": "left",
  OA: "up",
  OB: "down",
  OC: "right",
  OD: "left",
  "[H": "home",
  "[F": "end",
  OH: "home",
  OF: "end",
  "[1~": "home",
  "[4~": "end",
  "[5~": "page-up",
  "[6~": "page-down",
} as const;

type NamedKey = (typeof controls)[keyof typeof controls] | (typeof sequences)[keyof typeof sequences] | "escape";

export type KeyPress = NamedKey | { readonly typed: string };

const sequence = /^(?:\[[0-9;?]*[ -/]*[@-~]|O[@-~])/;

/** Accepts chunks that may split a character. Unknown sequences are ignored. */
export function createKeys(): (bytes: Uint8Array) => readonly KeyPress[] {
  const decoder = new StringDecoder("utf8");
  return (bytes) => keysOf(decoder.write(Buffer.from(bytes)));
}

function keysOf(text: string): KeyPress[] {
  const keys: KeyPress[] = [];
  let typed = "";
  const flush = () => {
    if (typed !== "") keys.push({ typed });
    typed = "";
  };
  for (let at = 0; at < text.length;) {
    const character = String.fromCodePoint(text.codePointAt(at)!);
    at += character.length;
    if (character === "\u001b") {
      flush();
      const found = sequence.exec(text.slice(at, at + 32))?.[0];
      if (found === undefined) keys.push("escape");
      else {
        at += found.length;
        if (isKeyOf(sequences, found)) keys.push(sequences[found]);
      }
      continue;
    }
    if (isKeyOf(controls, character)) {
      flush();
      keys.push(controls[character]);
    } else if (!/\p{Cc}/u.test(character)) typed += character;
  }
  flush();
  return keys;
}

function isKeyOf<T extends object>(table: T, key: string): key is string & keyof T {
  return Object.hasOwn(table, key);
}
