/** The Markdown at the start of a notebook, from the start of its file: for its title and language, without reading all of it. */

/** The text of the Markdown cells, as far as they are there. */
export function notebookHead(json: string): string {
  const cells: string[] = [];
  for (const { index } of json.matchAll(/"cell_type":\s{0,9}"markdown"/g)) {
    const source = /"source":\s{0,9}\[?/g;
    source.lastIndex = index;
    if (!source.test(json)) break;
    cells.push(stringsAt(json, source.lastIndex).join(""));
  }
  return cells.join("\n\n");
}

/** The strings of a list, or a single one. The last one may be cut off. */
function stringsAt(json: string, from: number): string[] {
  const strings: string[] = [];
  const string = /\s{0,99}("(?:[^"\\]|\\.)*")\s{0,99},?/y;
  string.lastIndex = from;
  for (let found = string.exec(json); found; found = string.exec(json)) {
    try {
      strings.push(JSON.parse(found[1]!) as string);
    } catch {
      break;
    }
    if (!found[0].endsWith(",")) break;
  }
  return strings;
}
