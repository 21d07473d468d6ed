/** Where a person is in the tree: the way down to it, its URI to take along, and all that is known of it. */
import { useState } from "preact/hooks";
import { nameIn } from "../client/tree-of.ts";
import type { Resource } from "../resources.ts";
import type { Shared } from "./app.tsx";
import { factsOf } from "./facts.ts";
import { tokensOf } from "./tray.ts";
import { wayTo } from "./tree.ts";

export function Here({
  picker,
  language,
  resource,
  now,
}: Shared & { readonly resource: Resource; readonly now: number }) {
  const { texts } = language;
  const { tree, tray } = picker.state;
  const [said, setSaid] = useState({ uri: "", text: "" });
  const { uri } = resource;
  const copy = (): void =>
    void navigator.clipboard.writeText(uri).then(
      () => setSaid({ uri, text: texts.copied }),
      () => setSaid({ uri, text: texts.notCopied }),
    );
  const above = wayTo(tree.roots, uri).filter((folder) => folder !== uri);
  return (
    <>
      <nav aria-label={texts.breadcrumb}>
        <ol>
          {above.map((folder) => (
            <li key={folder}>
              <button type="button" class="link" title={folder} onClick={() => picker.reveal(folder)}>
                {nameIn(folder)}
              </button>
            </li>
          ))}
          <li aria-current="location">{resource.name}</li>
        </ol>
      </nav>
      <div class="here-uri">
        <code title={uri}>{uri}</code>
        <button type="button" class="small" onClick={copy}>
          {texts.copyUri}
        </button>
        <span role="status">{said.uri === uri && said.text}</span>
      </div>
      <p class="facts">
        {factsOf(resource, tokensOf(tray, uri), now, language)
          .map(({ long }) => long)
          .join(" · ")}
      </p>
    </>
  );
}
