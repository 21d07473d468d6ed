/** Renders Markdown with a fixed set of elements. No text becomes HTML, and nothing is fetched. */
import { cutAt } from "../../lib/cut-at.ts";
import type { ComponentChild } from "preact";
import { useMemo } from "preact/hooks";
import { type MarkdownBlock, blocksOf } from "../markdown.ts";
import type { Inline } from "../markdown-inline.ts";
import type { PickerTexts } from "../texts.ts";
import { Lazily } from "./lazily.tsx";
import { PlainTable } from "./plain-table.tsx";
import type { ViewProps } from "./view.ts";

interface Links {
  /** URI of the text, for relative links. */
  readonly base: string;
  /** Opens another resource. */
  readonly follow: (uri: string) => void;
  readonly texts: PickerTexts;
}

const loadCode = () => import("./code-view.tsx").then(({ CodeBlock }) => ({ default: CodeBlock }));
const loadDiagram = () => import("./diagram-view.tsx").then(({ Mermaid }) => ({ default: Mermaid }));

export default function MarkdownView({ text, uri, follow, language: { texts } }: ViewProps) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  const links = { base: uri, follow, texts };
  return <div class="markdown">{blocks.map((block) => blockView(block, links))}</div>;
}

function blockView(block: MarkdownBlock, links: Links): ComponentChild {
  switch (block.kind) {
    case "heading": {
      // The page has its own first heading.
      const Tag = `h${Math.min(6, block.level + 1)}` as "h2";
      return <Tag>{inlineViews(block.inlines, links)}</Tag>;
    }
    case "paragraph":
      return <p>{inlineViews(block.inlines, links)}</p>;
    case "code":
      return <Fence {...block} texts={links.texts} />;
    case "quote":
      return <blockquote>{block.blocks.map((each) => blockView(each, links))}</blockquote>;
    case "list": {
      const items = block.items.map((item) => <li>{itemViews(item, links)}</li>);
      return block.start === undefined ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>;
    }
    case "table":
      return (
        <div class="table" tabIndex={0}>
          <PlainTable
            head={block.head.map((cell) => inlineViews(cell, links))}
            rows={block.rows.map((row) => row.map((cell) => inlineViews(cell, links)))}
          />
        </div>
      );
    case "rule":
      return <hr />;
  }
}

interface FenceProps {
  readonly text: string;
  readonly language?: string;
  readonly texts: PickerTexts;
}

function Fence({ text, language = "", texts }: FenceProps) {
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
    }
  });
}

/** A link to a web page or to another resource; any other link is shown as text. */
function linkView(to: string, children: ComponentChild[], { base, follow }: Links): ComponentChild {
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
