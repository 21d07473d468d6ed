/** One search result: its name, path, metadata and excerpt, with a tick for its lines and a button for all of its resource. */
import type { Hit } from "../resources.ts";
import { shownTitle } from "./shown-title.ts";
import { IconImage } from "./icon.tsx";
import { rangeText } from "./lines-texts.ts";
import { PathText } from "./path-text.tsx";
import { SnippetView } from "./snippet-view.tsx";
import type { PickerTexts } from "./texts.ts";
import type { Choice } from "./tray.ts";

interface HitProps {
  readonly hit: Hit;
  readonly path: string;
  readonly facts: readonly string[];
  readonly texts: PickerTexts;
  /** How much of its lines is chosen. */
  readonly choice: Choice;
  readonly onChoose: () => void;
  /** Absent if the result is a whole resource. */
  readonly whole?: { readonly isChosen: boolean; readonly onChoose: () => void };
}

const tickClass: Readonly<Record<Choice, string>> = { all: "tick on", some: "tick part", none: "tick" };

/** Buttons within an option cannot have the focus; the list has keys for them. */
export function HitView({ hit, path, facts, texts, choice, onChoose, whole }: HitProps) {
  const { resource, snippet, lines } = hit;
  return (
    <>
      <div class="hit-name">
        <IconImage type={resource.mimeType} uri={resource.uri} />
        <span class="name">{shownTitle(resource)}</span>
        {lines && <span class="fact">{rangeText(lines)}</span>}
        {whole && (
          <span
            class={whole.isChosen ? "whole on" : "whole"}
            title={texts.lines.wholeHint}
            aria-hidden="true"
            onClick={(event) => act(event, whole.onChoose)}
          >
            {texts.lines.whole}
          </span>
        )}
        <span class={tickClass[choice]} aria-hidden="true" onClick={(event) => act(event, onChoose)} />
      </div>
      <div class="hit-uri">
        <PathText path={path} title={resource.uri} />
      </div>
      {facts.length > 0 && <div class="hit-facts">{facts.join(" · ")}</div>}
      {snippet !== undefined && <SnippetView hit={hit} />}
    </>
  );
}

/** A click elsewhere opens the result. */
function act(event: Event, then: () => void): void {
  event.stopPropagation();
  then();
}
