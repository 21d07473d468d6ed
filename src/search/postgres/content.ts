/** Encodes the text of a passage, and the entry of a document, as bytes: a text of PostgreSQL has no U+0000 and no half surrogate pair. */
import type { Entry } from "../../source.ts";
import type { Passage } from "../passages.ts";
import type { KeptPassage } from "../texts.ts";

type Head = [from: number, line: number, more: number, heading: string];

export function writeContent({ from, lines, heading }: Passage, text: string): Uint8Array {
  const head: Head = [from, lines[0], lines[1] - lines[0], heading];
  const spelling = text.isWellFormed() ? "utf8" : "utf16le";
  return Buffer.concat([
    Buffer.of(spelling === "utf8" ? 0 : 1),
    Buffer.from(`${JSON.stringify(head)}\n${text}`, spelling),
  ]);
}

export function readContent(bytes: Uint8Array): KeptPassage {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset + 1, bytes.byteLength - 1).toString(
    bytes[0] === 0 ? "utf8" : "utf16le",
  );
  const at = whole.indexOf("\n");
  const [from, line, more, heading] = JSON.parse(whole.slice(0, at)) as Head;
  const text = whole.slice(at + 1);
  return { from, to: from + text.length, lines: [line, line + more], heading, text };
}

export function writeEntry(entry: Entry): Uint8Array {
  return Buffer.from(JSON.stringify(entry));
}

export function readEntry(bytes: Uint8Array): Entry {
  return JSON.parse(Buffer.from(bytes).toString()) as Entry;
}
