/** Finds the names that a text defines: functions, classes, types, constants, tables, headings. */
import { isCode, type TextFormat } from "./format.ts";
import { headingReader, indentOf } from "./headings.ts";
import { outermostKeys } from "./outermost-keys.ts";

/** Each name as written, without those of its containers, in the order of the text. */
export function definedNames(text: string, format: TextFormat): readonly string[] {
  if (format === "keys") return outermostKeys(withFirstIndent(text)).map(({ name }) => name);
  const reader = headingReader(format);
  const names: string[] = [];
  const whole = isCode(format) ? withFirstIndent(text) : text;
  const lines = whole.split("\n");
  let from = 0;
  lines.forEach((line, at) => {
    const to = from + line.trimEnd().length;
    const began = to === from ? undefined : reader.read(whole, from, to, lines[at + 1] ?? "");
    if (began && "heading" in began) {
      const name = began.definition ? began.definition.name : began.heading.split(" > ").at(-1)!;
      if (name !== undefined) names.push(name);
    }
    from += line.length + 1;
  });
  return names;
}

/** A passage begins after the white space of its first line: a method would look as if it contained the next one. */
function withFirstIndent(text: string): string {
  const indents = text.split("\n").flatMap((line, at) => (at === 0 || line.trim() === "" ? [] : indentOf(line)));
  return " ".repeat(indents.reduce((least, one) => Math.min(least, one), 300) % 300) + text;
}
