/** Where the shown resource stands, and its URI to take along. */
import { useState } from "preact/hooks";
import type { Shared } from "./app.tsx";

interface CrumbsProps extends Shared {
  readonly uri: string;
  readonly roots: readonly string[];
}

export function Crumbs({ picker, language: { texts }, uri, roots }: CrumbsProps) {
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

export function nameOf(uri: string): string {
  const last = uri.replace(/[?#].*$/, "").replace(/\/+$/, "");
  const name = last.slice(last.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(name) || uri;
  } catch {
    return name;
  }
}
