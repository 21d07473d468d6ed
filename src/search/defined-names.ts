/** Finds the names that a text defines: functions, classes, types, tables, headings. */
import type { TextFormat } from "./format.ts";
import { headingReader } from "./headings.ts";

/** Each name as written, without those of its containers, in the order of the text. */
export function definedNames(text: string, format: TextFormat): readonly string[] {
  const readHeading = headingReader(format);
  const names: string[] = [];
  const lines = text.split("\n");
  let from = 0;
  lines.forEach((line, at) => {
    const began = readHeading(text, from, from + line.trimEnd().length, lines[at + 1] ?? "");
    if (began && "heading" in began) names.push(began.heading.split(" > ").at(-1)!);
    from += line.length + 1;
  });
  return names;
}
