/** A web page as Markdown: the visible content only. */
import { findEncoding } from "../../lib/text-encoding.ts";
import { decodeHtmlEntities } from "./html-entities.ts";
import { createMarkdownBlocks, markdownHeading, oneLine, table } from "./markdown.ts";

/** Elements that are dropped completely. For raw text elements, the end tag is searched by name. */
const dropped = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "iframe",
  "object",
  "canvas",
  "rt",
  "rp",
  "datalist",
]);
const rawText = new Set(["script", "style", "iframe", "textarea", "title", "xmp"]);
const blockElements = new Set(
  (
    "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 " +
    "header hgroup hr html legend li main menu nav ol p pre section summary table ul option caption"
  ).split(" "),
);
const emptyElements = new Set("area base br col embed hr img input link meta source track wbr".split(" "));

interface Tag {
  readonly name: string;
  readonly isEnd: boolean;
  readonly isEmpty: boolean;
  /** After the name. */
  readonly rest: string;
}

export function htmlToMarkdown(html: string): string {
  const blocks = createMarkdownBlocks();
  const lists: { readonly isNumbered: boolean; count: number }[] = [];
  const tables: { readonly rows: string[][] }[] = [];
  /** The open link. The line before it is stored separately: cutting it out of a long line repeatedly would be slow. */
  let link: { readonly href: string; readonly before: string } | undefined;
  let title = "";
  let line = "";
  /** Stored separately, because reading the end of a growing string would flatten it each time. */
  let endsInSpace = true;
  /** The kind of line: heading level, or list item. */
  let level = 0;
  let isItem = false;
  let quotes = 0;
  let preformatted = 0;
  let dropping = 0;
  let droppedName = "";

  function flush(): void {
    const all = link ? link.before + line : line;
    const text = preformatted > 0 ? all : all.trim();
    const wasItem = isItem;
    line = "";
    endsInSpace = true;
    if (link) link = { href: link.href, before: "" };
    if (text.trim() === "") return;
    isItem = false;
    const cell = tables.at(-1)?.rows.at(-1);
    if (cell && cell.length > 0) {
      const before = cell.pop() ?? "";
      cell.push(before === "" ? text : `${before}\n${text}`);
      return;
    }
    if (preformatted > 0) return add(fenced(text));
    if (level > 0) return add(markdownHeading(level, text));
    const list = lists.at(-1);
    if (!list) return add(text);
    const indent = "  ".repeat(Math.min(8, lists.length - 1));
    if (wasItem) list.count += 1;
    const lead = !wasItem ? "  " : list.isNumbered ? `${list.count}. ` : "- ";
    add(`${indent}${lead}${oneLine(text)}`, true);
  }

  function add(block: string, joins = false): void {
    const quoted = quotes === 0 ? block : block.replaceAll(/^/gm, "> ".repeat(Math.min(quotes, 8)));
    blocks.add(quoted, joins);
  }

  function write(text: string): void {
    if (preformatted > 0) {
      line += text;
      return;
    }
    const collapsed = collapse(text);
    const added = endsInSpace ? collapsed.trimStart() : collapsed;
    if (added === "") return;
    line += added;
    endsInSpace = added.endsWith(" ");
  }

  function mark(): void {
    line += "`";
    endsInSpace = false;
  }

  function open({ name, rest, isEmpty }: Tag): void {
    if (blockElements.has(name)) flush();
    switch (name) {
      case "br":
        line += "\n";
        endsInSpace = true;
        break;
      case "hr":
        add("---");
        break;
      case "h1":
      case "h2":
      case "h3":
      case "h4":
      case "h5":
      case "h6":
        level = Number(name[1]);
        break;
      case "ul":
      case "menu":
      case "ol":
        lists.push({ isNumbered: name === "ol", count: Number(attributeOf(rest, "start") ?? 1) - 1 || 0 });
        break;
      case "li":
        isItem = true;
        break;
      case "blockquote":
        quotes += 1;
        break;
      case "pre":
        preformatted += 1;
        break;
      case "code":
      case "kbd":
      case "samp":
        if (preformatted === 0) mark();
        break;
      case "table":
        tables.push({ rows: [] });
        break;
      case "tr":
        flush();
        tables.at(-1)?.rows.push([]);
        break;
      case "td":
      case "th": {
        flush();
        const rows = tables.at(-1)?.rows;
        if (rows?.length === 0) rows.push([]);
        rows?.at(-1)?.push("");
        break;
      }
      case "a":
        // Links cannot be nested: the previous one was not closed.
        endLink();
        if (isEmpty) break;
        link = { href: decodeHtmlEntities(attributeOf(rest, "href") ?? ""), before: line };
        line = "";
        break;
      case "img": {
        const alt = oneLine(decodeHtmlEntities(attributeOf(rest, "alt") ?? ""));
        if (alt !== "") write(`![${alt}](${shortTarget(attributeOf(rest, "src") ?? "")})`);
        break;
      }
    }
  }

  function close(name: string): void {
    if (name === "a") return endLink();
    if ((name === "code" || name === "kbd" || name === "samp") && preformatted === 0) mark();
    if (name === "td" || name === "th" || name === "tr" || blockElements.has(name)) flush();
    if (/^h[1-6]$/.test(name)) level = 0;
    else if (name === "ul" || name === "ol" || name === "menu") {
      lists.pop();
      isItem = false;
    } else if (name === "blockquote") quotes = Math.max(0, quotes - 1);
    else if (name === "pre") preformatted = Math.max(0, preformatted - 1);
    else if (name === "table") endTable();
  }

  function endLink(): void {
    if (!link) return;
    const { href, before } = link;
    link = undefined;
    const text = line.trim();
    if (text === "" || text === href || !isWorthNaming(href) || preformatted > 0) {
      line = before + line;
      return;
    }
    const lead = line.slice(0, line.indexOf(text));
    const target = href.trim().replaceAll(/\s/g, "%20");
    line = `${before}${lead}[${oneLine(text)}](${target})${/\s$/.test(line) ? " " : ""}`;
  }

  function endTable(): void {
    const rows = (tables.pop()?.rows ?? []).filter((row) => row.some((cell) => cell !== ""));
    const outer = tables.at(-1)?.rows.at(-1);
    if (!outer || outer.length === 0) return add(table(rows));
    const before = outer.pop() ?? "";
    outer.push([before, ...rows.map((row) => row.map((cell) => oneLine(cell)).join(" / "))].filter(Boolean).join("\n"));
  }

  scanHtml(html, {
    tag(tag) {
      if (dropping > 0) {
        if (tag.name === droppedName && !tag.isEmpty) dropping += tag.isEnd ? -1 : 1;
      } else if (dropped.has(tag.name) && !tag.isEnd) {
        if (tag.isEmpty) return;
        dropping = 1;
        droppedName = tag.name;
      } else if (tag.isEnd) close(tag.name);
      else open(tag);
    },
    text(text) {
      if (dropping === 0) write(decodeHtmlEntities(text));
    },
    title(text) {
      if (title === "" && dropping === 0) title = oneLine(decodeHtmlEntities(text));
    },
  });
  flush();
  const body = blocks.toString();
  // The first heading often repeats the title.
  return title === "" || body.startsWith(`# ${title}\n`) ? body : `# ${title}\n${body === "" ? "" : `\n${body}`}`;
}

interface HtmlHandler {
  tag(tag: Tag): void;
  text(text: string): void;
  title(text: string): void;
}

function scanHtml(html: string, { tag, text, title }: HtmlHandler): void {
  for (let at = 0; at < html.length;) {
    const start = html.indexOf("<", at);
    if (start < 0 || start > at) text(html.slice(at, start < 0 ? html.length : start));
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
      text("<");
      at = start + 1;
      continue;
    }
    let nameEnd = nameStart;
    while (nameEnd < html.length && !isNameEnd(html.charCodeAt(nameEnd))) nameEnd += 1;
    const name = html.slice(nameStart, Math.min(nameEnd, nameStart + 40)).toLowerCase();
    const end = endOfTag(html, nameEnd);
    const rest = html.slice(nameEnd, end);
    const isEmpty = !isEnd && (emptyElements.has(name) || rest.endsWith("/"));
    tag({ name, isEnd, isEmpty, rest });
    at = end + 1;
    if (isEnd || isEmpty || !rawText.has(name)) continue;
    const close = findClose(html, name, at);
    if (name === "title") title(html.slice(at, close));
    else if (name === "textarea" || name === "xmp") text(html.slice(at, close));
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

function attributeOf(rest: string, wanted: string): string | undefined {
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

/** Collapses white space; a line break between two wide characters is removed. */
function collapse(text: string): string {
  return text.replaceAll(/[\t\n\f\r ]+/g, (space, at: number) => {
    const isBreak =
      space.includes("\n") && isWide(text.charCodeAt(at - 1)) && isWide(text.charCodeAt(at + space.length));
    return isBreak ? "" : " ";
  });
}

function isWide(code: number): boolean {
  return (code >= 0x3000 && code <= 0x9fff) || (code >= 0xf900 && code <= 0xfaff) || (code >= 0xff00 && code <= 0xffef);
}

function fenced(text: string): string {
  const body = text.replace(/^\n/, "").trimEnd();
  const fence = body.includes("```") ? "~~~~" : "```";
  return `${fence}\n${body}\n${fence}`;
}

function isWorthNaming(href: string): boolean {
  return href !== "" && !href.startsWith("#") && !/^\s*(?:javascript|data|vbscript):/i.test(href);
}

function shortTarget(src: string): string {
  return /^\s*data:/i.test(src) ? "" : decodeHtmlEntities(src).trim().replaceAll(/\s/g, "%20");
}

/** Decodes a page: by its byte order mark, as UTF-8 if valid, by its declared charset, else by detection. */
export function decodeHtml(bytes: Uint8Array): string {
  const found = findEncoding(bytes);
  if (found?.encoding === "utf-8" || found?.markBytes)
    return decodeLeniently(bytes.subarray(found.markBytes), found.encoding);
  const head = new TextDecoder("windows-1252").decode(bytes.subarray(0, 4096));
  const given = /<meta[^>]{1,400}?charset\s*=\s*["']?([\w-]{2,30})/i.exec(head)?.[1];
  return decodeLeniently(bytes, given ?? found?.encoding ?? "windows-1252", found?.encoding);
}

function decodeLeniently(bytes: Uint8Array, encoding: string, otherwise = "windows-1252"): string {
  try {
    return new TextDecoder(encoding).decode(bytes);
  } catch {
    return new TextDecoder(otherwise).decode(bytes);
  }
}
