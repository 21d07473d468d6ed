/** What a model would read of one resource, as a person reads it. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Content, directoryType } from "../resources.ts";
import type { Shared } from "./app.tsx";
import { MarkdownView } from "./markdown-view.tsx";
import { piecesOf } from "./pieces.ts";
import type { Preview } from "./state.ts";
import { ago, inUnits, type Texts } from "./texts.ts";
import { has } from "./tray.ts";
import { wayTo } from "./tree.ts";

/** Longer Markdown is shown as it is written. */
const maxRendered = 256 * 1024;
const pictures = /^image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml|x-icon|vnd\.microsoft\.icon)$/;

export function PreviewPane({ picker, language, now }: Shared & { readonly now: number }) {
  const { texts, code } = language;
  const { preview, tree, tray } = picker.state;
  const [isSource, setSource] = useState(false);
  const scroll = useRef<HTMLDivElement>(null);
  const uri = preview?.resource.uri;
  useEffect(() => {
    if (scroll.current) scroll.current.scrollTop = 0;
  }, [uri]);
  if (!preview || uri === undefined) return <p class="state">{texts.nothingOpen}</p>;

  const { resource, status, problem, contents, isPartial, isGone, updatedAt } = preview;
  const changed = resource.annotations?.lastModified;
  const isChosen = has(tray, uri);
  const facts = [
    resource.mimeType ?? texts.unknownType,
    ...(resource.size === undefined ? [] : [inUnits(resource.size)]),
    ...(changed === undefined || updatedAt !== undefined ? [] : [texts.changed(ago(changed, now, code))]),
  ];
  const hasTwoFaces = contents.some((content) => faceOf(content, isPartial, resource.mimeType) !== "text");
  return (
    <>
      <div class="about">
        <Crumbs {...{ picker, language, uri, roots: wayTo(tree.roots, uri) }} />
        <h2>{resource.title ?? resource.name}</h2>
        <p class="facts">{facts.join(" · ")}</p>
        <div class="actions">
          <button type="button" aria-pressed={isChosen} onClick={() => picker.toggle(resource)}>
            {isChosen ? texts.chosenAlready : texts.chooseThis}
          </button>
          {hasTwoFaces && contents.some(({ body }) => "text" in body) && (
            <button type="button" aria-pressed={isSource} onClick={() => setSource(!isSource)}>
              {texts.source}
            </button>
          )}
        </div>
        <p class="news" role="status">
          {isGone ? texts.gone : updatedAt !== undefined && texts.updated(ago(updatedAt, now, code))}
        </p>
      </div>
      <div class="content" ref={scroll} tabIndex={0} role="region" aria-label={texts.preview}>
        {status === "loading" && (
          <p class="state" role="status">
            {texts.loading}
          </p>
        )}
        {status === "failed" && (
          <div class="state" role="alert">
            <p>{texts.failed}</p>
            <p class="quiet">{problem}</p>
            <button type="button" onClick={() => picker.preview(resource)}>
              {texts.retry}
            </button>
          </div>
        )}
        {isPartial && <p class="quiet">{texts.partly(resource.size === undefined ? "?" : inUnits(resource.size))}</p>}
        {contents.map((content, index) => (
          <ContentView
            key={`${uri} ${index}`}
            {...{ content, texts, isSource, isPartial }}
            type={content.mimeType ?? resource.mimeType}
            name={resource.name}
            follow={(to) => picker.preview({ uri: to, name: nameOf(to) })}
          />
        ))}
        {preview.next !== undefined && <More preview={preview} texts={texts} onMore={picker.previewMore} />}
      </div>
    </>
  );
}

interface CrumbsProps extends Shared {
  readonly uri: string;
  readonly roots: readonly string[];
}

function Crumbs({ picker, language: { texts }, uri, roots }: CrumbsProps) {
  const [said, setSaid] = useState("");
  const copy = (): void =>
    void navigator.clipboard.writeText(uri).then(
      () => setSaid(texts.copied),
      () => setSaid(texts.notCopied),
    );
  return (
    <nav class="crumbs" aria-label="URI">
      {roots.map((folder) => (
        <span key={folder}>
          <button type="button" class="link" title={folder} onClick={() => picker.reveal(folder)}>
            {nameOf(folder)}
          </button>
          {" › "}
        </span>
      ))}
      <code class="uri">{uri}</code>
      <button type="button" class="small" onClick={copy}>
        {texts.copyUri}
      </button>
      <span role="status">{said}</span>
    </nav>
  );
}

type Face = "markdown" | "picture" | "text" | "binary";

function faceOf({ body, mimeType }: Content, isPartial: boolean, said?: string): Face {
  const type = (mimeType ?? said ?? "").replace(/;.*$/, "").toLowerCase();
  if (pictures.test(type)) return "picture";
  if (!("text" in body)) return "binary";
  return type === "text/markdown" && !isPartial && body.text.length <= maxRendered ? "markdown" : "text";
}

interface ContentProps {
  readonly content: Content;
  readonly type: string | undefined;
  readonly name: string;
  readonly texts: Texts;
  readonly isSource: boolean;
  readonly isPartial: boolean;
  readonly follow: (uri: string) => void;
}

function ContentView({ content, type, name, texts, isSource, isPartial, follow }: ContentProps) {
  const { body, uri } = content;
  const face = faceOf(content, isPartial, type);
  if ("text" in body && (isSource || face === "text")) return <TextView text={body.text} />;
  if (face === "markdown" && "text" in body)
    return <MarkdownView text={body.text} base={uri} follow={follow} sayImage={texts.image} />;
  if (face === "picture") return <Picture content={content} type={type ?? ""} name={name} />;
  const size = "bytes" in body ? body.bytes.length : 0;
  return <p class="state">{texts.binary(type === directoryType ? "" : (type ?? texts.unknownType), inUnits(size))}</p>;
}

/** As an image, in which nothing can run and which can fetch nothing. */
function Picture({
  content: { body },
  type,
  name,
}: Pick<ContentProps, "content" | "name"> & { readonly type: string }) {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob(["text" in body ? body.text : new Uint8Array(body.bytes)], { type }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [body, type]);
  return address === undefined ? null : <img class="shown-picture" src={address} alt={name} />;
}

/** A long text is drawn as far as it has been scrolled. */
function TextView({ text }: { readonly text: string }) {
  const pieces = useMemo(() => piecesOf(text), [text]);
  const [count, setCount] = useState(1);
  const end = useSight(() => setCount((before) => Math.min(pieces.length, before + 1)), [count, pieces]);
  return (
    <div class="text">
      {pieces.slice(0, count).map((piece, index) => (
        <pre key={index}>{piece}</pre>
      ))}
      {count < pieces.length && <div class="end" ref={end} />}
    </div>
  );
}

function More({
  preview,
  texts,
  onMore,
}: {
  readonly preview: Preview;
  readonly texts: Texts;
  readonly onMore: () => void;
}) {
  const end = useSight(onMore, [preview.next]);
  return (
    <div class="end" ref={end}>
      <button type="button" disabled={preview.isLoadingMore} onClick={onMore}>
        {preview.isLoadingMore ? texts.loading : texts.more}
      </button>
    </div>
  );
}

/** Acts when an element comes near to being seen. */
function useSight(act: () => void, again: readonly unknown[]) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!element.current) return undefined;
    const observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && act(), {
      rootMargin: "400px",
    });
    observer.observe(element.current);
    return () => observer.disconnect();
    // What `act` does is settled by what it is looked at again for.
  }, [...again]);
  return element;
}

function nameOf(uri: string): string {
  const last = uri.replace(/[?#].*$/, "").replace(/\/+$/, "");
  const name = last.slice(last.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(name) || uri;
  } catch {
    return name;
  }
}
