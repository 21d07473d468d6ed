/** The chosen resources in the person's order: moved by dragging, with buttons, or with Alt and the arrow keys. */
import { useRef, useState } from "preact/hooks";
import { wholeUri } from "../lib/passage-uri.ts";
import { nameIn } from "../client/tree-of.ts";
import { linesOf } from "../lib/line-range-uri.ts";
import { visibleName } from "../lib/visible-text.ts";
import { shownTitle } from "./shown-title.ts";
import type { Resource } from "../resources.ts";
import type { Shared } from "./app.tsx";
import { compact, markedTokens } from "./facts.ts";
import type { Language, PickerTexts } from "./texts.ts";
import { type Chosen, costOf } from "./tray.ts";
import { isFolder, pathBeside } from "./tree.ts";

/** Names of exceptions in the row of a folder. */
const maxNames = 3;

export function TrayList({ picker, language }: Shared) {
  const { texts } = language;
  const { tray } = picker.state;
  const [dragged, setDragged] = useState<string>();
  /** Index before which it would be dropped. */
  const [target, setTarget] = useState<number>();
  const [said, setSaid] = useState("");
  const list = useRef<HTMLOListElement>(null);

  function move(uri: string, name: string, to: number): void {
    if (to < 0 || to >= tray.length) return;
    picker.move(uri, to);
    setSaid(texts.movedTo(name, to + 1, tray.length));
  }

  /** The row changes its URI; the focus stays on it. */
  function takeWhole(uri: string): void {
    picker.takeWhole(uri);
    const at = picker.state.tray.findIndex(({ resource }) => wholeUri(resource.uri) === wholeUri(uri));
    requestAnimationFrame(() => list.current?.children[at]?.querySelector<HTMLElement>(".name")?.focus());
  }

  /** Index of the drop position: before a row if the pointer is above its middle. */
  function placeAt(y: number): number {
    const rows = [...(list.current?.children ?? [])];
    const at = rows.findIndex((row) => {
      const { top, height } = row.getBoundingClientRect();
      return y < top + height / 2;
    });
    return at < 0 ? rows.length : at;
  }

  function drop(): void {
    const from = tray.findIndex(({ resource }) => resource.uri === dragged);
    const chosen = tray[from];
    if (chosen && target !== undefined)
      move(chosen.resource.uri, labelOf(chosen.resource, texts), target > from ? target - 1 : target);
    setDragged(undefined);
    setTarget(undefined);
  }

  return (
    <>
      <ol
        ref={list}
        class="chosen"
        onDragOver={(event) => {
          if (dragged === undefined) return;
          event.preventDefault();
          setTarget(placeAt(event.clientY));
        }}
        onDrop={(event) => {
          event.preventDefault();
          drop();
        }}
      >
        {tray.map((chosen, index) => {
          const { resource, passages } = chosen;
          const { uri } = resource;
          const name = labelOf(resource, texts);
          const lines = linesIn(resource, texts);
          const path = pathBeside(picker.state.tree.roots, { ...resource, uri: wholeUri(uri) });
          const hasBoth = lines !== "" || passages !== undefined;
          return (
            <li
              key={uri}
              class={dragged === undefined ? "" : uri === dragged ? "dragged" : index === target ? "target" : ""}
              draggable
              onDragStart={(event) => {
                setDragged(uri);
                event.dataTransfer?.setData("text/uri-list", uri);
                if (event.dataTransfer) event.dataTransfer.effectAllowed = "copyMove";
              }}
              onDragEnd={() => {
                setDragged(undefined);
                setTarget(undefined);
              }}
              onKeyDown={(event) => {
                if (hasBoth && event.key === "w" && !event.ctrlKey && !event.metaKey && !event.altKey)
                  return takeWhole(uri);
                const by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
                if (!event.altKey || by === 0) return;
                event.preventDefault();
                move(uri, name, index + by);
              }}
            >
              <span class="grip" aria-hidden="true">
                ⠿
              </span>
              <button
                type="button"
                class="link name"
                title={uri}
                aria-keyshortcuts={`Alt+ArrowUp Alt+ArrowDown${hasBoth ? " W" : ""}`}
                onClick={() => (isFolder(resource) ? picker.reveal(uri) : picker.preview(resource))}
              >
                {shownName(resource)}
              </button>
              {lines !== "" && <span class="lines">{lines}</span>}
              {path !== "" && <span class="path">{path}</span>}
              {chosen.change && <span class={`change ${chosen.change}`}>{texts.inTray[chosen.change]}</span>}
              {chosen.change === "updated" && (
                <button
                  type="button"
                  class="small"
                  aria-label={texts.inTray.seenName(name)}
                  onClick={({ currentTarget }) => {
                    currentTarget.closest("li")?.querySelector<HTMLElement>(".name")?.focus();
                    picker.seen(uri);
                  }}
                >
                  {texts.inTray.seen}
                </button>
              )}
              {hasBoth && (
                <button type="button" class="small" title={texts.inTray.wholeHint} onClick={() => takeWhole(uri)}>
                  {lines === "" ? texts.inTray.only : texts.inTray.whole}
                </button>
              )}
              <span class="fact" title={chosen.except?.join("\n")}>
                {costText(chosen, language)}
              </span>
              <button
                type="button"
                class="small"
                aria-label={texts.up(name)}
                aria-disabled={index === 0}
                onClick={() => move(uri, name, index - 1)}
              >
                ↑
              </button>
              <button
                type="button"
                class="small"
                aria-label={texts.down(name)}
                aria-disabled={index === tray.length - 1}
                onClick={() => move(uri, name, index + 1)}
              >
                ↓
              </button>
              <button
                type="button"
                class="small"
                aria-label={texts.unchoose(name)}
                onClick={({ currentTarget }) => {
                  leave(currentTarget);
                  picker.toggle(resource);
                }}
              >
                ×
              </button>
            </li>
          );
        })}
      </ol>
      <p class="unseen" role="status">
        {said}
      </p>
    </>
  );
}

/** The tokens; for a folder also the number of its files, and what is left out. */
function costText(chosen: Chosen, { texts, code }: Language): string {
  const { inTray } = texts;
  const { tokens, folder, except = [] } = chosen;
  const number = new Intl.NumberFormat(code);
  const cost = costOf(chosen);
  if (!folder) return tokens === "none" ? texts.noTokens : cost ? markedTokens(cost, texts, number) : texts.counting;
  return [
    inTray.files(number.format(folder.files), folder.isMore),
    cost && markedTokens(cost, texts, compact(code)),
    folder.unsized > 0 && inTray.unsized(number.format(folder.unsized)),
    folder.failed > 0 && inTray.notListed(folder.failed),
    except.length > 0 && inTray.except(exceptionsIn(except, code)),
    folder.isCounting && texts.counting,
  ]
    .filter(Boolean)
    .join(" · ");
}

/** The first names; the URIs are in the tooltip. */
function exceptionsIn(except: readonly string[], code: string): string {
  const names = except.slice(0, maxNames).map((uri) => visibleName(nameIn(uri)));
  const rest = except.length - names.length;
  return [...names, ...(rest > 0 ? [`+${rest}`] : [])].join(code === "ja" ? "、" : ", ");
}

function shownName(resource: Resource): string {
  return isFolder(resource) ? `${shownTitle(resource)}/` : shownTitle(resource);
}

/** Distinguishes several passages of one resource. */
export function labelOf(resource: Resource, texts: PickerTexts): string {
  return `${shownName(resource)} ${linesIn(resource, texts)}`.trim();
}

export function linesIn({ uri }: Resource, { inTray }: PickerTexts): string {
  const lines = linesOf(uri);
  return lines ? inTray.lines(`${lines[0]}`, lines[1] === Infinity ? "" : `${lines[1]}`) : "";
}

/** Moves the focus from a removed row to the same button of its neighbour, or to the tray if it was the last. */
function leave(button: HTMLButtonElement): void {
  const item = button.closest("li");
  const next = (item?.nextElementSibling ?? item?.previousElementSibling)?.querySelector("button:last-child");
  const heir = next ?? button.closest(".tray")?.querySelector("[aria-controls=sets]");
  if (heir instanceof HTMLElement) heir.focus();
}
