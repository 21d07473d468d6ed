/** HTML inside Markdown: elements and attributes of a fixed list. Scripts and styles are left out; of any other tag, only its content is kept. */
import { decodeHtmlEntities } from "../lib/html-entities.ts";

/** Only these attributes are read, and only with valid values. */
export interface HtmlAttributes {
  readonly align?: "left" | "center" | "right";
  /** Untrusted: only links to the web and to other resources may be followed. */
  readonly href?: string;
  readonly title?: string;
  readonly isOpen?: true;
  readonly start?: number;
  readonly colSpan?: number;
  readonly rowSpan?: number;
}

interface HtmlTag {
  /** In lowercase. */
  readonly name: string;
  readonly isClosing: boolean;
  readonly attributes: ReadonlyMap<string, string>;
  /** Index after the tag. */
  readonly end: number;
}

/** A tag in a text, before elements are nested. */
export type HtmlPiece =
  | { readonly kind: "open"; readonly tag: string; readonly attributes: HtmlAttributes; readonly at: number }
  | { readonly kind: "close"; readonly tag: string };

interface HtmlElement<T> {
  readonly tag: string;
  readonly attributes: HtmlAttributes;
  readonly at: number;
  readonly children: readonly T[];
}

const words = (text: string): readonly string[] => text.split(" ");
/** Each shown as the element on the right. */
const aliases: ReadonlyMap<string, string> = new Map([
  ...words("article aside center figure figcaption footer header main nav section").map(
    (name) => [name, "div"] as const,
  ),
  ...words("big font").map((name) => [name, "span"] as const),
  ["strike", "s"],
  ["tt", "code"],
]);
const blockTags = new Set(
  words(
    "blockquote caption dd details div dl dt h1 h2 h3 h4 h5 h6 hr li ol p pre summary table tbody td tfoot th thead tr ul",
  ),
);
const inlineTags = new Set(
  words("a abbr b br cite code del dfn em i img ins kbd mark q s samp small span strong sub sup u var"),
);
/** Tags of HTML that are not shown. Names that are in no list, such as `<your-name>`, stay text. */
const hiddenTags = new Set(
  words(
    "area audio base body button canvas col colgroup embed fieldset form frame frameset g head html iframe input label legend link map math meta noscript object optgroup option param path picture script select source style svg template textarea title track video wbr",
  ),
);
const voidTags = new Set(words("br hr img"));
/** Their content is no text. */
export const codeTags: ReadonlySet<string> = new Set(["script", "style"]);
/** Elements that mean something only inside these. */
const parents: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ["li", ["ul", "ol"]],
  ["dt", ["dl"]],
  ["dd", ["dl"]],
  ["summary", ["details"]],
  ["tr", ["table", "thead", "tbody", "tfoot"]],
  ["td", ["tr"]],
  ["th", ["tr"]],
  ...words("caption thead tbody tfoot").map((name): [string, string[]] => [name, ["table"]]),
]);
/** Tags that are nested deeper are left out. */
const maxDepth = 24;

const tagStart = /<(\/?)([a-z][a-z0-9]{0,20})(?=[\s/>])/iy;
const attribute = /[\s/]*([a-z][\w:.-]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/iy;
const tagEnd = /[\s/]*>/y;

/** The complete tag at this place. */
export function tagAt(text: string, at: number): HtmlTag | undefined {
  const [start, slash, name = ""] = execAt(tagStart, text, at) ?? [];
  if (start === undefined) return undefined;
  let end = at + start.length;
  const attributes = new Map<string, string>();
  for (;;) {
    const [all, key = "", inDouble, inSingle, bare] = execAt(attribute, text, end) ?? [];
    if (all === undefined) break;
    end += all.length;
    if (!attributes.has(key.toLowerCase())) attributes.set(key.toLowerCase(), inDouble ?? inSingle ?? bare ?? "");
  }
  const [close] = execAt(tagEnd, text, end) ?? [];
  if (close === undefined) return undefined;
  return { name: name.toLowerCase(), isClosing: slash === "/", attributes, end: end + close.length };
}

function execAt(expression: RegExp, text: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at;
  return expression.exec(text);
}

/** Whether a tag of this name is HTML, shown or not. */
export function isHtmlName(name: string): boolean {
  return hiddenTags.has(name) || isShown(aliases.get(name) ?? name);
}

/** Whether a line that starts with this tag begins a block of HTML. */
export function isBlockName(name: string): boolean {
  return blockTags.has(aliases.get(name) ?? name) || codeTags.has(name);
}

function isShown(name: string): boolean {
  return blockTags.has(name) || inlineTags.has(name);
}

/** Undefined for a tag that is not shown. */
export function pieceOf({ name, isClosing, attributes }: HtmlTag, at: number): HtmlPiece | undefined {
  const tag = aliases.get(name) ?? name;
  if (!isShown(tag) || (isClosing && voidTags.has(tag))) return undefined;
  if (isClosing) return { kind: "close", tag };
  const known = attributesOf(attributes);
  return { kind: "open", tag, at, attributes: name === "center" ? { ...known, align: "center" } : known };
}

function attributesOf(given: ReadonlyMap<string, string>): HtmlAttributes {
  const align = given.get("align")?.toLowerCase();
  const text = (name: string): string | undefined => {
    const value = given.get(name);
    return value === undefined ? undefined : decodeHtmlEntities(value);
  };
  const number = (name: string, max: number): number | undefined => {
    const value = given.get(name) ?? "";
    return /^\d{1,6}$/.test(value) && Number(value) <= max ? Number(value) : undefined;
  };
  const [href, title] = [text("href"), text("title")];
  const [start, colSpan, rowSpan] = [number("start", 999_999), number("colspan", 100), number("rowspan", 100)];
  return {
    ...((align === "left" || align === "center" || align === "right") && { align }),
    ...(href !== undefined && { href }),
    ...(title !== undefined && { title }),
    ...(given.has("open") && { isOpen: true as const }),
    ...(start !== undefined && { start }),
    ...(colSpan !== undefined && { colSpan }),
    ...(rowSpan !== undefined && { rowSpan }),
  };
}

/** Puts what stands between tags into elements. Missing end tags are added, superfluous ones are ignored. */
export function nest<T extends { readonly kind: string }>(
  pieces: readonly (T | HtmlPiece)[],
  make: (element: HtmlElement<T>) => T,
): readonly T[] {
  const top: T[] = [];
  const open: (Omit<HtmlElement<T>, "children"> & { readonly children: T[] })[] = [];
  const add = (item: T): void => void (open.at(-1)?.children ?? top).push(item);
  const closeTo = (depth: number): void => {
    while (open.length > depth) {
      const element = open.pop();
      if (element) add(make(element));
    }
  };

  for (const piece of pieces) {
    if (isClose(piece)) {
      const depth = open.findLastIndex(({ tag }) => tag === piece.tag);
      if (depth >= 0) closeTo(depth);
    } else if (isOpen(piece)) {
      const { tag, attributes, at } = piece;
      const within = parents.get(tag);
      if (within) {
        const parent = open.findLastIndex((element) => within.includes(element.tag));
        if (parent < 0) continue;
        closeTo(parent + 1);
      } else if (blockTags.has(tag) && open.at(-1)?.tag === "p") closeTo(open.length - 1);
      if (voidTags.has(tag)) add(make({ tag, attributes, at, children: [] }));
      else if (open.length < maxDepth && !(tag === "a" && open.some((element) => element.tag === "a")))
        open.push({ tag, attributes, at, children: [] });
    } else add(piece);
  }
  closeTo(0);
  return top;
}

function isOpen(piece: { readonly kind: string }): piece is Extract<HtmlPiece, { readonly kind: "open" }> {
  return piece.kind === "open";
}

function isClose(piece: { readonly kind: string }): piece is Extract<HtmlPiece, { readonly kind: "close" }> {
  return piece.kind === "close";
}
