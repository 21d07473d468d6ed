/** The current location in the tree: its path, and its URI to copy. */
import { nameIn } from "../client/tree-of.ts";
import type { Resource } from "../resources.ts";
import type { Shared } from "./app.tsx";
import { CopyButton } from "./copy-button.tsx";
import { wayTo } from "./tree.ts";
import { shortTitle } from "../lib/own-title.ts";

export function Here({ picker, language: { texts }, resource }: Shared & { readonly resource: Resource }) {
  const { roots } = picker.state.tree;
  const { uri } = resource;
  const above = wayTo(roots, uri).filter((folder) => folder !== uri);
  return (
    <>
      <nav aria-label={texts.breadcrumb} title={uri}>
        <ol>
          {above.map((folder) => (
            <li key={folder}>
              <button type="button" class="link" title={folder} onClick={() => picker.reveal(folder)}>
                {roots.find((root) => root.uri === folder)?.name ?? nameIn(folder)}
              </button>
            </li>
          ))}
          <li aria-current="location">{shortTitle(resource)}</li>
        </ol>
      </nav>
      <CopyButton key={uri} texts={texts} label={texts.copyUri} text={async () => uri} isSmall />
    </>
  );
}
