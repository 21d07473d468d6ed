/** A web page as Markdown: the visible content only. */
import { findEncoding } from "../../lib/text-encoding.ts";
import { decodeHtmlEntities } from "../../lib/html-entities.ts";
import { attributeOf, scanHtml, type Tag } from "./html-tags.ts";
import { createMarkdownBlocks, markdownHeading, oneLine, table } from "./markdown.ts";

/** Elements that are dropped completely. */
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
const blockElements = new Set(
  (
    "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 " +
    "header hgroup hr html legend li main menu nav ol p pre section summary table ul option caption"
  ).split(" "),
);
/** Also dropped where only the content of a page is wanted. */
const navigation = new Set(["nav", "button"]);

export interface HtmlOptions {
  /** URL that links are relative to. Without it, links stay as they are written. */
  readonly base?: string;
  /** Title of the page, if `html` is only a part of it. */
  readonly title?: string;
  /** Whether navigation, buttons and menus are dropped. */
  readonly isContent?: boolean;
}

/** The result has at most one heading of the first level: the first one of the page, else its title. */
export function htmlToMarkdown(
  html: string,
  { base, title: givenTitle = "", isContent = false }: HtmlOptions = {},
): string {
  const blocks = createMarkdownBlocks();
  const lists: { readonly isNumbered: boolean; count: number }[] = [];
  const tables: { readonly rows: string[][] }[] = [];
  /** The open link. The line before it is stored separately: cutting it out of a long line repeatedly would be slow. */
  let link: { readonly href: string; readonly before: string } | undefined;
  let title = givenTitle;
  let hasFirstHeading = false;
  /** Of the code that follows. */
  let language = "";
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
    if (preformatted > 0) return add(fenced(text, language));
    language = "";
    if (level > 0) {
      const isSecond = level === 1 && hasFirstHeading;
      if (level === 1) hasFirstHeading = true;
      return add(markdownHeading(isSecond ? 2 : level, text));
    }
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
    if (codeElements.has(name)) language = languageOf(rest) ?? language;
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
        if (alt !== "") write(`![${alt}](${shortTarget(attributeOf(rest, "src") ?? "", base)})`);
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
    else if (name === "pre") {
      preformatted = Math.max(0, preformatted - 1);
      language = "";
    } else if (name === "table") endTable();
  }

  function endLink(): void {
    if (!link) return;
    const { href, before } = link;
    link = undefined;
    const text = line.trim();
    if (href.startsWith("#") && anchorMark.test(text)) {
      line = before;
      return;
    }
    if (text === "" || text === href || !isWorthNaming(href) || preformatted > 0) {
      line = before + line;
      return;
    }
    const lead = line.slice(0, line.indexOf(text));
    const target = absolute(href, base);
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
      } else if (!tag.isEnd && (dropped.has(tag.name) || (isContent && isNavigation(tag)))) {
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
      if (title === "" && dropping === 0) title = titleText(text);
    },
  });
  flush();
  const body = blocks.toString();
  return title === "" || hasFirstHeading ? body : `# ${title}\n${body === "" ? "" : `\n${body}`}`;
}

/** The text of a title element. */
export function titleText(text: string): string {
  return oneLine(decodeHtmlEntities(text));
}

/** Texts of links that lead to the heading in which they stand. */
const anchorMark = /^[\u00b6\u00a7#\u2693\u200b\ufeff\u{1f517}]+$/u;

function isNavigation({ name, rest }: Tag): boolean {
  return navigation.has(name) || (rest.includes("navigation") && attributeOf(rest, "role") === "navigation");
}

const codeElements = new Set(["div", "pre", "code", "figure"]);
const noLanguage = new Set(["default", "none", "plain", "plaintext", "text", "source"]);

const languageClass =
  /(?:^|\s)(?:(?:lang|language|highlight-source|highlight|src)-|brush: ?)([a-z][\w+#.]{0,29})(?=[\s;]|$)/i;

/** The language of code as highlighters write it into class names: `language-js`, `highlight-python3`, `highlight-source-shell`, `brush: sql`. */
function languageOf(rest: string): string | undefined {
  const classes = attributeOf(rest, "class") ?? "";
  const found = languageClass.exec(classes)?.[1] ?? attributeOf(rest, "data-lang");
  if (found === undefined || !/^[\w+#.]{1,30}$/.test(found)) return undefined;
  const name = found.toLowerCase();
  // Sphinx names the version of the language.
  return noLanguage.has(name) ? "" : name === "python3" ? "python" : name;
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

function fenced(text: string, language: string): string {
  const body = text.replace(/^\n/, "").trimEnd();
  const fence = body.includes("```") ? "~~~~" : "```";
  return `${fence}${language}\n${body}\n${fence}`;
}

function isWorthNaming(href: string): boolean {
  return href !== "" && !href.startsWith("#") && !/^\s*(?:javascript|data|vbscript):/i.test(href);
}

function shortTarget(src: string, base: string | undefined): string {
  return /^\s*(?:data:|$)/i.test(src) ? "" : absolute(decodeHtmlEntities(src), base);
}

function absolute(href: string, base: string | undefined): string {
  return (base === undefined ? undefined : URL.parse(href, base)?.href) ?? href.trim().replaceAll(/\s/g, "%20");
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
