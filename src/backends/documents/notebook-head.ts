/** The Markdown at the start of a notebook, from the start of its file: for its title and language, without reading all of it. */

const maxLength = 16 * 1024;

interface JsonObject {
  readonly isCell: boolean;
  key?: string;
  type?: string;
  readonly source: string[];
}

/** The text of the Markdown cells, as far as they are there. A cell may name its type before or after its text. */
export function notebookHead(json: string): string {
  const cells: string[] = [];
  const open: JsonObject[] = [];
  let length = 0;

  function end(cell: JsonObject | undefined): void {
    if (!cell?.isCell || cell.type !== "markdown") return;
    const text = cell.source.join("");
    cells.push(text);
    length += text.length;
  }

  // A brace, or a string with the colon after it. The last string may be cut off.
  for (const [token, colon] of json.matchAll(/[{}]|"(?:[^"\\]|\\[^])*(?:"(\s{0,99}:)?|\\?$)/g)) {
    const object = open.at(-1);
    if (token === "{") open.push({ isCell: object?.key === "cells", source: [] });
    else if (token === "}") end(open.pop());
    else if (object) addString(object, token, colon);
    if (length >= maxLength) break;
  }
  for (const object of open) end(object);
  return cells.join("\n\n").slice(0, maxLength);
}

function addString(object: JsonObject, token: string, colon: string | undefined): void {
  try {
    const value = JSON.parse(token.slice(0, token.length - (colon?.length ?? 0))) as string;
    if (colon !== undefined) object.key = value;
    else if (object.key === "cell_type") object.type = value;
    else if (object.key === "source") object.source.push(value);
  } catch {
    // Cut off.
  }
}
