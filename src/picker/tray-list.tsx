/** The chosen resources in the person's order: moved by dragging, with buttons, or with Alt and the arrow keys. */
import { useRef, useState } from "preact/hooks";
import type { Shared } from "./app.tsx";

export function TrayList({ picker, language: { texts, code } }: Shared) {
  const { tray } = picker.state;
  const [dragged, setDragged] = useState<string>();
  /** Index before which it would be dropped. */
  const [target, setTarget] = useState<number>();
  const [said, setSaid] = useState("");
  const list = useRef<HTMLOListElement>(null);
  const number = new Intl.NumberFormat(code);

  function move(uri: string, name: string, to: number): void {
    if (to < 0 || to >= tray.length) return;
    picker.move(uri, to);
    setSaid(texts.movedTo(name, to + 1, tray.length));
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
      move(chosen.resource.uri, chosen.resource.title ?? chosen.resource.name, target > from ? target - 1 : target);
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
        {tray.map(({ resource, tokens }, index) => {
          const { uri } = resource;
          const name = resource.title ?? resource.name;
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
                aria-keyshortcuts="Alt+ArrowUp Alt+ArrowDown"
                onClick={() => picker.preview(resource)}
              >
                {name}
              </button>
              <span class="fact">
                {tokens === undefined
                  ? texts.counting
                  : tokens === "none"
                    ? texts.noTokens
                    : texts.tokens(number.format(tokens))}
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

/** Moves the focus from a removed row to the same button of its neighbour, or to the tray if it was the last. */
function leave(button: HTMLButtonElement): void {
  const item = button.closest("li");
  const next = (item?.nextElementSibling ?? item?.previousElementSibling)?.querySelector("button:last-child");
  const heir = next ?? button.closest(".tray")?.querySelector("[aria-controls=sets]");
  if (heir instanceof HTMLElement) heir.focus();
}
