/** Metadata of a resource: annotations, sizes, and whatever the server adds. */
import { formatBytes } from "../../lib/format-bytes.ts";
import type { ComponentChild } from "preact";
import { markedTokens } from "../facts.ts";
import type { PreviewState } from "../state.ts";
import { ago, type Language } from "../texts.ts";
import type { Chosen, TokenCount } from "../tray.ts";
import { estimateTokens, estimateTokensOf } from "../../lib/estimate-tokens.ts";
import { type Json, parseJsonView } from "./json.ts";
import { JsonTree } from "./json-tree.tsx";

interface AboutProps {
  readonly preview: PreviewState;
  /** The counted tokens of the resource, if they are known. */
  readonly counted: Chosen["tokens"];
  readonly language: Language;
  readonly now: number;
}

type Fact = readonly [name: string, value: ComponentChild];

export default function AboutView({ preview, counted, language, now }: AboutProps) {
  const { resource, contents, isPartial } = preview;
  const { texts, code } = language;
  const { annotations = {}, meta } = resource;
  const { lastModified, priority, audience } = annotations;
  const facts: readonly Fact[] = [
    ["URI", <code>{resource.uri}</code>],
    [texts.shown.name, resource.name],
    [texts.shown.title, resource.title],
    [texts.shown.description, resource.description],
    [texts.shown.mimeType, resource.mimeType ?? texts.unknownType],
    [
      texts.shown.size,
      resource.size !== undefined && `${formatBytes(resource.size)} (${resource.size.toLocaleString(code)} B)`,
    ],
    [texts.shown.lastModified, lastModified !== undefined && modified(lastModified)],
    [texts.shown.priority, priority !== undefined && priorityView(priority)],
    [texts.shown.audience, audience?.map((each) => texts.shown.audiences[each] ?? each).join(", ")],
  ];
  return (
    <div class="facts-view">
      <Facts facts={facts} />
      {meta && (
        <>
          <h3>
            <code>_meta</code>
          </h3>
          <Meta {...{ meta, texts }} />
        </>
      )}
      {contents.map((content, index) => (
        <section key={index}>
          <h3>{contents.length > 1 ? texts.shown.contentOf(index + 1, contents.length) : texts.shown.content}</h3>
          <Facts
            facts={[
              ["URI", <code>{content.uri}</code>],
              [texts.shown.mimeType, content.mimeType ?? texts.unknownType],
              ...("text" in content.body ? measures(content.body.text) : bytes(content.body.bytes)),
            ]}
          />
          {content.meta && (
            <>
              <h4>
                <code>_meta</code>
              </h4>
              <Meta meta={content.meta} texts={texts} />
            </>
          )}
        </section>
      ))}
      {isPartial && <p class="quiet">{texts.shown.partlyRead}</p>}
    </div>
  );

  function modified(iso: string): string {
    const atMs = Date.parse(iso);
    if (Number.isNaN(atMs)) return iso;
    const formatted = new Intl.DateTimeFormat(code, { dateStyle: "long", timeStyle: "medium" }).format(atMs);
    return `${formatted} (${ago(iso, now, code)})`;
  }

  function priorityView(value: number): ComponentChild {
    return (
      <>
        <meter min="0" max="1" value={value} aria-label={texts.shown.priority} /> {value}
      </>
    );
  }

  function measures(text: string): readonly Fact[] {
    const lines = text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
    return [
      [texts.shown.length, texts.shown.lengthOf(text.length.toLocaleString(code), lines.toLocaleString(code))],
      [texts.shown.cost, markedTokens(contentTokens(preview, counted, text), texts, new Intl.NumberFormat(code))],
    ];
  }

  function bytes(body: Uint8Array): readonly Fact[] {
    return [[texts.shown.size, formatBytes(body.length)]];
  }
}

/** As in the tree and the tray, if this is all of the resource. */
export function contentTokens(
  { resource, contents, isPartial, isTaken }: PreviewState,
  counted: Chosen["tokens"],
  text: string,
): TokenCount {
  const isWhole = contents.length === 1 && !isPartial && !isTaken;
  const known = isWhole ? (counted ?? estimateTokensOf(resource)) : undefined;
  if (typeof known === "object") return known;
  return { count: typeof known === "number" ? known : estimateTokens(text), isExact: false };
}

function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl>
      {facts.map(
        ([name, value]) =>
          Boolean(value) && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

function Meta({
  meta,
  texts,
}: {
  readonly meta: Readonly<Record<string, unknown>>;
  readonly texts: Language["texts"];
}) {
  // Converted through JSON, because it came as JSON.
  const value: Json = parseJsonView(JSON.stringify(meta))?.value ?? {};
  return <JsonTree {...{ value, texts }} />;
}
