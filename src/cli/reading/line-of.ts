/** Finds the line on which a result of a search begins to match. */
import type { Call, Hit, Resources } from "../../resources.ts";

/** Line of the first match, or of the snippet's first text; undefined if unknown. */
export async function lineOf(hit: Hit, resources: Pick<Resources, "read">, call: Call): Promise<number | undefined> {
  const { resource, lines, snippet, marks = [] } = hit;
  if (!lines || snippet === undefined || lines[0] === lines[1]) return lines?.[0];
  const within = marks[0]?.[0] ?? Math.max(0, snippet.search(/\S/));
  for (const uri of textUris(resource)) {
    const answer = await resources.read(uri, call).catch(() => undefined);
    const body = answer?.contents[0]?.body;
    // Extracting the text of bytes can take seconds.
    if (!body || !("text" in body)) return undefined;
    const start = positionOf(hit, body.text);
    if (start !== undefined) return body.text.slice(0, start + within).split("\n").length;
  }
  return undefined;
}

/** A notebook is indexed by the text of its cells instead of its JSON. */
function textUris({ uri, meta }: Hit["resource"]): readonly string[] {
  const forms = meta?.["pressmark/as"];
  const hasForm = Array.isArray(forms) && forms.includes("text") && !/[?#]/.test(uri);
  return hasForm ? [uri, `${uri}?as=text`] : [uri];
}

/** Of the snippet in the text. The offset may be unknown, or that of an earlier version of the text. */
function positionOf({ offset, snippet = "", lines: [first, last] = [1, 1] }: Hit, text: string): number | undefined {
  if (offset !== undefined && text.startsWith(snippet, offset)) return offset;
  const from = startOfLine(text, first);
  const position = text.slice(from, startOfLine(text, last + 1)).indexOf(snippet);
  return position < 0 ? undefined : from + position;
}

function startOfLine(text: string, line: number): number {
  let start = 0;
  for (let at = 1; at < line; at += 1) {
    const end = text.indexOf("\n", start);
    if (end < 0) return text.length;
    start = end + 1;
  }
  return start;
}
