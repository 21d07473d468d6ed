/** The current location in the tree: its path, and its URI to copy. */
import { nameIn } from "../client/tree-of.ts";
import { visibleName } from "../lib/visible-text.ts";
import type { Resource } from "../resources.ts";
import { useState } from "preact/hooks";
import type { Shared } from "./app.tsx";
import { CopyButton } from "./copy-button.tsx";
import { wayTo } from "./tree.ts";
import { shownTitle } from "./shown-title.ts";

/** Of a longer path, only the first and the last folder are shown, until the person wants all. */
const maxFolders = 3;

export function Here({ picker, language: { texts }, resource }: Shared & { readonly resource: Resource }) {
  const { roots } = picker.state.tree;
  const { uri } = resource;
  const above = wayTo(roots, uri).filter((folder) => folder !== uri);
  const [whole, setWhole] = useState("");
  const isCut = above.length > maxFolders && whole !== uri;
  const shown = isCut ? [above[0], undefined, above.at(-1)] : above;
  return (
    <>
      <nav aria-label={texts.breadcrumb} title={uri}>
        <ol>
          {shown.map((folder) => (
            <li key={folder}>
              {folder === undefined ? (
                <button type="button" class="link" aria-label={texts.layout.allOfPath} onClick={() => setWhole(uri)}>
                  …
                </button>
              ) : (
                <button type="button" class="link" title={folder} onClick={() => picker.reveal(folder)}>
                  {visibleName(roots.find((root) => root.uri === folder)?.name ?? nameIn(folder))}
                </button>
              )}
            </li>
          ))}
          <li aria-current="location">{shownTitle(resource)}</li>
        </ol>
      </nav>
      <CopyButton key={uri} texts={texts} label={texts.copyUri} text={async () => uri} isSmall />
    </>
  );
}
