/** Parses values separated by commas, semicolons or tabs. Takes linear time; every field is text. */

interface Separated {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** True if there are more rows than these. */
  readonly isCut: boolean;
}

export const maxRows = 200_000;

export function parseSeparated(text: string, type: string, isWhole: boolean): Separated {
  const start = text.startsWith("\uFEFF") ? 1 : 0;
  const separator = type === "text/tab-separated-values" ? "\t" : separatorOf(text.slice(start, start + 4096));
  const rows: string[][] = [];
  let row: string[] = [];
  let at = start;
  let isCut = false;

  while (at < text.length) {
    row.push(text[at] === '"' ? takeQuoted() : takePlain());
    if (text[at] === separator) {
      at += 1;
      if (at === text.length) row.push("");
      continue;
    }
    const isEnd = at >= text.length;
    if (text[at] === "\r") at += 1;
    if (text[at] === "\n") at += 1;
    // The last line may continue in the next part.
    if (isEnd && !isWhole) break;
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
    if (rows.length > maxRows) {
      isCut = at < text.length;
      break;
    }
  }
  const [head = [], ...others] = rows;
  return { head, rows: others, isCut };

  function takePlain(): string {
    const from = at;
    while (at < text.length) {
      const letter = text[at];
      if (letter === separator || letter === "\n" || letter === "\r") break;
      at += 1;
    }
    return text.slice(from, at);
  }

  function takeQuoted(): string {
    let field = "";
    for (;;) {
      const end = text.indexOf('"', at + 1);
      if (end < 0) {
        field += text.slice(at + 1);
        at = text.length;
        return field;
      }
      field += text.slice(at + 1, end);
      at = end + 1;
      if (text[at] !== '"') break;
      field += '"';
    }
    // Text after the closing quote belongs to the field, as in spreadsheets.
    return field + takePlain();
  }
}

/** The separator that occurs most often in the first line. */
function separatorOf(beginning: string): string {
  const line = /^[^\r\n]*/.exec(beginning.replaceAll(/"[^"]*"/g, ""))?.[0] ?? "";
  const counted = [",", ";", "\t"].map((mark) => ({ mark, count: line.split(mark).length }));
  return counted.reduce((best, each) => (each.count > best.count ? each : best)).mark;
}
