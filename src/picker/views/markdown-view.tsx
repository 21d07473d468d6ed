/** Renders Markdown and the HTML within as a fixed set of elements. No text is set as HTML, and nothing is fetched. */
import { cutAt } from "../../lib/cut-at.ts";
import { type ComponentChild, h } from "preact";
import { useMemo } from "preact/hooks";
import { type MarkdownBlock, type MarkdownItem, blocksOf } from "../markdown.ts";
import type { HtmlAttributes } from "../markdown-html.ts";
import type { Inline } from "../markdown-inline.ts";
import type { PickerTexts } from "../texts.ts";
import { Lazily } from "./lazily.tsx";
import { PlainTable } from "./plain-table.tsx";
import type { ViewProps } from "./view.ts";

interface Links {
  /** URI of the text, for relative links. */
  readonly base: string;
  /** False if the lines of the text are not those of the resource. */
  readonly hasLines?: boolean;
  /** Opens another resource. */
  readonly follow: (uri: string) => void;
  readonly texts: PickerTexts;
}

const loadCode = () => import("./code-view.tsx").then(({ CodeBlock }) => ({ default: CodeBlock }));
const loadDiagram = () => import("./diagram-view.tsx").then(({ Mermaid }) => ({ default: Mermaid }));

export default function MarkdownView({ text, uri, follow, language: { texts } }: ViewProps) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return <Blocks {...{ blocks, base: uri, follow, texts }} />;
}

export function Blocks({ blocks, ...links }: Links & { readonly blocks: readonly MarkdownBlock[] }) {
  return <div class="markdown">{blocks.map((block) => blockView(block, links))}</div>;
}

/** Each block has the line where it begins in the source as `data-line`. */
function blockView(block: MarkdownBlock, links: Links): ComponentChild {
  const line = lineOf(block, links);
  switch (block.kind) {
    case "heading":
      return h(headingTag(block.level), { "data-line": line }, inlineViews(block.inlines, links));
    case "paragraph":
      return <p data-line={line}>{inlineViews(block.inlines, links)}</p>;
    case "code":
      return (
        <div data-line={line}>
          <Fence {...block} texts={links.texts} />
        </div>
      );
    case "quote":
      return <blockquote data-line={line}>{block.blocks.map((each) => blockView(each, links))}</blockquote>;
    case "list": {
      const items = block.items.map((item) => itemView(item, links));
      if (block.start === undefined) return <ul data-line={line}>{items}</ul>;
      return (
        <ol data-line={line} start={block.start}>
          {items}
        </ol>
      );
    }
    case "table":
      return (
        <div class="table" tabIndex={0} data-line={line}>
          <PlainTable
            {...(line !== undefined && { firstLine: line + 2 })}
            head={block.head.map((cell) => inlineViews(cell, links))}
            rows={block.rows.map((row) => row.map((cell) => inlineViews(cell, links)))}
            cellClasses={block.aligns.map((align) => align && `align-${align}`)}
          />
        </div>
      );
    case "rule":
      return <hr data-line={line} />;
    case "inlines":
      return <>{inlineViews(block.inlines, links)}</>;
    case "element": {
      const children = block.blocks.map((each) => blockView(each, links));
      return elementView(block.tag, block.attributes, children, links, line);
    }
  }
}

function lineOf({ line }: MarkdownBlock | MarkdownItem, { hasLines = true }: Links): number | undefined {
  return hasLines ? line : undefined;
}

/** The page has its own first heading. */
function headingTag(level: number): string {
  return `h${Math.min(6, level + 1)}`;
}

/** The tag is from the list of the parser. */
function elementView(
  tag: string,
  { align, href, isOpen, ...others }: HtmlAttributes,
  children: ComponentChild[],
  links: Links,
  line?: number,
): ComponentChild {
  if (tag === "a") return href === undefined ? <span>{children}</span> : linkView(href, children, links);
  // An empty cell is no header.
  const isEmptyHeader = tag === "th" && children.length === 0;
  const name = isEmptyHeader ? "td" : /^h[1-6]$/.test(tag) ? headingTag(Number(tag[1])) : tag;
  const element = h(
    name,
    {
      ...others,
      "data-line": line,
      ...(align && { class: `align-${align}` }),
      ...(isOpen && { open: true }),
      ...(tag === "pre" && { tabIndex: 0 }),
    },
    children,
  );
  return tag === "table" ? (
    <div class="table" tabIndex={0}>
      {element}
    </div>
  ) : (
    element
  );
}

interface FenceProps {
  readonly text: string;
  readonly language?: string;
  readonly texts: PickerTexts;
}

export function Fence({ text, language = "", texts }: FenceProps) {
  const props = useMemo(() => ({ text, language, texts }), [text, language, texts]);
  const plain = () => (
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
  );
  if (language === "") return plain();
  if (language.toLowerCase() === "mermaid") return <Lazily load={loadDiagram} props={props} meanwhile={plain} />;
  return <Lazily load={loadCode} props={props} meanwhile={plain} />;
}

function itemView(item: MarkdownItem, links: Links): ComponentChild {
  const { blocks, isDone } = item;
  const line = lineOf(item, links);
  if (isDone === undefined) return <li data-line={line}>{itemViews(blocks, links)}</li>;
  const { done, notDone } = links.texts.previews;
  return (
    <li data-line={line} class="task">
      <input type="checkbox" disabled checked={isDone} aria-label={isDone ? done : notDone} />{" "}
      {itemViews(blocks, links)}
    </li>
  );
}

/** A single paragraph becomes the item itself. */
function itemViews(blocks: readonly MarkdownBlock[], links: Links): ComponentChild[] {
  return blocks.map((block, index) =>
    index === 0 && block.kind === "paragraph" ? <>{inlineViews(block.inlines, links)}</> : blockView(block, links),
  );
}

function inlineViews(inlines: readonly Inline[], links: Links): ComponentChild[] {
  return inlines.map((inline) => {
    switch (inline.kind) {
      case "text":
        return inline.text;
      case "code":
        return <code>{inline.text}</code>;
      case "strong":
        return <strong>{inlineViews(inline.inlines, links)}</strong>;
      case "emphasis":
        return <em>{inlineViews(inline.inlines, links)}</em>;
      case "deleted":
        return <del>{inlineViews(inline.inlines, links)}</del>;
      case "break":
        return <br />;
      case "image":
        return <span class="picture">{links.texts.image(inline.alt || inline.to)}</span>;
      case "link":
        return linkView(inline.to, inlineViews(inline.inlines, links), links);
      case "element":
        return elementView(inline.tag, inline.attributes, inlineViews(inline.inlines, links), links);
    }
  });
}

/** A link to a web page or to another resource; any other link is shown as text. */
function linkView(to: string, children: readonly ComponentChild[], { base, follow }: Links): ComponentChild {
  const target = URL.canParse(to) ? to : to.startsWith("#") ? undefined : URL.parse(to, base)?.href;
  if (target === undefined) return <span>{children}</span>;
  if (/^https?:\/\//i.test(target) && !sharesStart(target, base))
    return (
      <a href={target} target="_blank" rel="noopener noreferrer" title={target}>
        {children}
      </a>
    );
  if (!sharesStart(target, base)) return <span title={target}>{children}</span>;
  return (
    <button type="button" class="link" title={target} onClick={() => follow(cutAt(target, /#/))}>
      {children}
    </button>
  );
}

function sharesStart(one: string, other: string): boolean {
  const start = /^[^:]+:\/\/[^/]*/.exec(other)?.[0];
  return start !== undefined && one.startsWith(start);
}
