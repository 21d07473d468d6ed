/** Parses the inline elements of Markdown, and the HTML within. */
import { decodeHtmlEntities } from "../lib/html-entities.ts";
import { codeTags, type HtmlAttributes, type HtmlPiece, isHtmlName, nest, pieceOf, tagAt } from "./markdown-html.ts";

export type Inline =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "strong" | "emphasis" | "deleted"; readonly inlines: readonly Inline[] }
  | { readonly kind: "link"; readonly to: string; readonly inlines: readonly Inline[] }
  | { readonly kind: "image"; readonly to: string; readonly alt: string }
  | { readonly kind: "break" }
  | {
      readonly kind: "element";
      readonly tag: string;
      readonly attributes: HtmlAttributes;
      readonly inlines: readonly Inline[];
    };

const maxDepth = 6;
const maxLabel = 500;
const maxTarget = 4000;
/** The longest first: `**` is not two `*`. */
const marks = [
  ["**", "strong"],
  ["__", "strong"],
  ["~~", "deleted"],
  ["*", "emphasis"],
  ["_", "emphasis"],
] as const;
/** An image that is a link. */
const pictureLink = /^\[!\[([^\]]*)\]\(([^)\s]*)\)\]\(([^)\s]*)\)/;
const special = /[\\`*_~[!<&\n]|https?:\/\//g;
const specialInHtml = /[<&]/g;
const entity = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,30});/iy;

export function inlinesOf(text: string, depth = 0, inLink = false): readonly Inline[] {
  return nest(piecesOf(text, special, depth, inLink), ({ tag, attributes, children }) => ({
    kind: "element",
    tag,
    attributes,
    inlines: children,
  }));
}

/** Tags and text of HTML, in which no other mark has a meaning. */
export function htmlPiecesOf(html: string): readonly (Inline | HtmlPiece)[] {
  return piecesOf(html, specialInHtml, 0, false);
}

function piecesOf(text: string, marked: RegExp, depth: number, isInLink: boolean): readonly (Inline | HtmlPiece)[] {
  const found: (Inline | HtmlPiece)[] = [];
  let inLink = isInLink;
  const next = createFinder(text);
  let plain = "";
  let at = 0;

  const add = (inline: Inline | HtmlPiece, to: number): void => {
    if (plain !== "") found.push({ kind: "text", text: plain });
    plain = "";
    found.push(inline);
    at = to;
  };

  while (at < text.length) {
    marked.lastIndex = at;
    const start = marked.exec(text)?.index ?? text.length;
    plain += text.slice(at, start);
    at = start;
    if (at >= text.length) break;
    const before = at;
    if (text[at] === "\\") takeEscape();
    else if (text[at] === "\n") takeEnd();
    else if (text[at] === "`") takeCode();
    else if (text[at] === "[" || text.startsWith("![", at)) takeLink();
    else if (text[at] === "&") takeEntity();
    else if (text[at] === "<" && !text.startsWith("<http", at)) takeTag();
    else if (text[at] === "<" || text[at] === "h") takeAddress();
    else takeMark();
    if (at === before) plain += text[at++];
  }
  if (plain !== "") found.push({ kind: "text", text: plain });
  return found;

  function takeEscape(): void {
    const escaped = text[at + 1] ?? "";
    if (escaped === "\n") return add({ kind: "break" }, at + 2);
    if (!/[!-/:-@[-`{-~]/.test(escaped)) return;
    plain += escaped;
    at += 2;
  }

  function takeEnd(): void {
    // Compares with the text: comparing with the joined parts would join them each time.
    if (plain.length > 1 && text.startsWith("  ", at - 2)) return add({ kind: "break" }, at + 1);
    plain += "\n";
    at += 1;
  }

  function takeCode(): void {
    let width = 1;
    while (text[at + width] === "`") width += 1;
    const mark = "`".repeat(width);
    const end = next(mark, at + width);
    if (end >= 0) return add({ kind: "code", text: text.slice(at + width, end).replaceAll("\n", " ") }, end + width);
    plain += mark;
    at += width;
  }

  function takeLink(): void {
    const isImage = text[at] === "!";
    const [all, alt = "", shown = "", leads = ""] = pictureLink.exec(text.slice(at, at + maxLabel)) ?? [];
    if (all !== undefined && !inLink)
      return add({ kind: "link", to: leads, inlines: [{ kind: "image", to: shown, alt }] }, at + all.length);
    const from = at + (isImage ? 2 : 1);
    const middle = next("](", from);
    if (middle < 0 || middle - from > maxLabel) return;
    const label = text.slice(from, middle);
    // Of nested brackets, the innermost are the link.
    if (!isImage && label.lastIndexOf("[") > label.lastIndexOf("]")) return;
    const end = next(")", middle + 2);
    if (end < 0 || end - middle > maxTarget) return;
    const to = (/^\s*<?([^\s>]*)/.exec(text.slice(middle + 2, end))?.[1] ?? "").trim();
    if (isImage) add({ kind: "image", to, alt: label }, end + 1);
    else if (!inLink && depth < maxDepth)
      add({ kind: "link", to, inlines: inlinesOf(label, depth + 1, true) }, end + 1);
  }

  function takeAddress(): void {
    if (inLink) return;
    const isBracketed = text[at] === "<";
    const part = text.slice(at, at + maxTarget);
    const [all, address = ""] =
      (isBracketed
        ? /^<(https?:\/\/[^\s<>]+)>/
        : /^(https?:\/\/[^\s<>"'`）」。、]*[^\s<>"'`）」。、.,;:!?)\]*_])/
      ).exec(part) ?? [];
    if (all !== undefined)
      add({ kind: "link", to: address, inlines: [{ kind: "text", text: address }] }, at + all.length);
  }

  function takeEntity(): void {
    entity.lastIndex = at;
    const [all = ""] = entity.exec(text) ?? [];
    plain += decodeHtmlEntities(all);
    at += all.length;
  }

  function takeTag(): void {
    if (text.startsWith("<!--", at)) {
      const end = next("-->", at + 4);
      if (end >= 0) at = end + 3;
      return;
    }
    const tag = tagAt(text, at);
    if (!tag || !isHtmlName(tag.name)) return;
    const { name, isClosing, attributes, end } = tag;
    if (name === "br" && !isClosing) return add({ kind: "break" }, end);
    if (name === "img") {
      const [alt, to] = [decodeHtmlEntities(attributes.get("alt") ?? ""), attributes.get("src") ?? ""];
      return add({ kind: "image", to, alt }, end);
    }
    if (codeTags.has(name) && !isClosing) {
      const close = next(`</${text.slice(at + 1, at + 1 + name.length)}>`, end);
      at = close < 0 ? end : close;
      return;
    }
    const piece = pieceOf(tag, at);
    if (!piece) at = end;
    else if (piece.tag === "a" && isInLink) at = end;
    else {
      if (piece.tag === "a") inLink = piece.kind === "open";
      add(piece, end);
      if (piece.kind === "open" && piece.tag === "pre" && text[at] === "\n") at += 1;
    }
  }

  function takeMark(): void {
    for (const [mark, kind] of marks) {
      if (!text.startsWith(mark, at)) continue;
      const from = at + mark.length;
      // An underscore within a word is part of it.
      const isInWord = mark[0] === "_" && /[\p{L}\p{N}]/u.test(text[at - 1] ?? "");
      const end = isInWord || /^\s?$/.test(text[from] ?? "") ? -1 : next(mark, from + 1);
      if (end >= 0 && depth < maxDepth && !/\s/.test(text[end - 1] ?? "")) {
        const after = mark === "*" && text[end + 1] === "*" && text[end - 1] !== "*" ? -1 : end;
        if (after >= 0)
          return add({ kind, inlines: inlinesOf(text.slice(from, end), depth + 1, inLink) }, end + mark.length);
      }
      plain += mark;
      at = from;
      return;
    }
  }
}

/** Like `indexOf`, with cached misses, so that a text full of opening marks takes linear time. */
function createFinder(text: string): (mark: string, from: number) => number {
  const known = new Map<string, number>();
  return (mark, from) => {
    const before = known.get(mark);
    if (before === -1 || (before !== undefined && before >= from)) return before;
    const at = text.indexOf(mark, from);
    known.set(mark, at);
    return at;
  };
}
