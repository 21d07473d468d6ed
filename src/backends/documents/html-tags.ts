/** A tag-by-tag scanner for HTML as pages really are: broken tags are accepted, and nothing recurses. */

/** The end tag of these elements is searched by name. */
const rawText = new Set(["script", "style", "iframe", "textarea", "title", "xmp"]);
const emptyElements = new Set("area base br col embed hr img input link meta source track wbr".split(" "));

export interface Tag {
  readonly name: string;
  readonly isEnd: boolean;
  readonly isEmpty: boolean;
  /** After the name. */
  readonly rest: string;
  /** Position of its "<", and of what follows it. */
  readonly start: number;
  readonly end: number;
}

interface HtmlHandler {
  /** Returns true to end the scan. */
  tag(tag: Tag): boolean | void;
  text?(text: string): void;
  title?(text: string): void;
}

export function scanHtml(html: string, { tag, text, title }: HtmlHandler): void {
  for (let at = 0; at < html.length;) {
    const start = html.indexOf("<", at);
    if (start < 0 || start > at) text?.(html.slice(at, start < 0 ? html.length : start));
    if (start < 0) return;
    if (html.startsWith("<!--", start)) {
      const end = html.indexOf("-->", start + 4);
      at = end < 0 ? html.length : end + 3;
      continue;
    }
    const next = html.charCodeAt(start + 1);
    if (next === 0x21 || next === 0x3f) {
      at = endOfTag(html, start) + 1;
      continue;
    }
    const isEnd = next === 0x2f;
    const nameStart = start + (isEnd ? 2 : 1);
    if (!isLetter(html.charCodeAt(nameStart))) {
      text?.("<");
      at = start + 1;
      continue;
    }
    let nameEnd = nameStart;
    while (nameEnd < html.length && !isNameEnd(html.charCodeAt(nameEnd))) nameEnd += 1;
    const name = html.slice(nameStart, Math.min(nameEnd, nameStart + 40)).toLowerCase();
    const end = endOfTag(html, nameEnd);
    const rest = html.slice(nameEnd, end);
    const isEmpty = !isEnd && (emptyElements.has(name) || rest.endsWith("/"));
    at = end + 1;
    if (tag({ name, isEnd, isEmpty, rest, start, end: at })) return;
    if (isEnd || isEmpty || !rawText.has(name)) continue;
    const close = findClose(html, name, at);
    if (name === "title") title?.(html.slice(at, close));
    else if (name === "textarea" || name === "xmp") text?.(html.slice(at, close));
    at = close;
  }
}

function isLetter(code: number): boolean {
  return (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
}

function isNameEnd(code: number): boolean {
  return code <= 0x20 || code === 0x3e || code === 0x2f;
}

function endOfTag(html: string, from: number): number {
  for (let at = from; at < html.length; at += 1) {
    const code = html.charCodeAt(at);
    if (code === 0x3e) return at;
    // A quotation mark counts only where a value may begin.
    if ((code !== 0x22 && code !== 0x27) || html.charCodeAt(at - 1) !== 0x3d) continue;
    const close = html.indexOf(code === 0x22 ? '"' : "'", at + 1);
    if (close < 0) continue;
    at = close;
  }
  return html.length;
}

function findClose(html: string, name: string, from: number): number {
  for (let at = html.indexOf("</", from); at >= 0; at = html.indexOf("</", at + 2))
    if (html.slice(at + 2, at + 2 + name.length).toLowerCase() === name) return at;
  return html.length;
}

export function attributeOf(rest: string, wanted: string): string | undefined {
  for (let at = 0; ;) {
    const equals = rest.indexOf("=", at);
    if (equals < 0) return undefined;
    const name = rest.slice(at, equals).trim();
    let open = equals + 1;
    while (rest.charCodeAt(open) <= 0x20) open += 1;
    const mark = rest.charAt(open);
    const isQuoted = mark === '"' || mark === "'";
    let close = isQuoted ? rest.indexOf(mark, open + 1) : open;
    if (!isQuoted) while (close < rest.length && rest.charCodeAt(close) > 0x20) close += 1;
    if (close < 0) return undefined;
    if (lastWord(name).toLowerCase() === wanted) return rest.slice(isQuoted ? open + 1 : open, close);
    at = close + 1;
  }
}

function lastWord(text: string): string {
  return text.slice(text.search(/(?<!\S)\S*$/));
}
