/** The border between the list and the preview: moved by mouse, touch or arrow keys; a double click or Enter resets it. */
import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { storedText, storeText } from "./local-storage.ts";

const least = 20;
const most = 70;
const step = 2;
const usual = 36;
const storageKey = "pressmark-list-percent";

interface SplitterProps {
  readonly label: string;
  /** Id of the element whose width it sets. */
  readonly controls: string;
  /** Gets the width as the property `--list`. */
  readonly page: RefObject<HTMLElement | null>;
}

export function Splitter({ label, controls, page }: SplitterProps) {
  const [percent, setPercent] = useState(() => within(Number(storedText(storageKey) ?? usual)));
  useLayoutEffect(() => page.current?.style.setProperty("--list", `${percent}%`), [percent]);

  function set(next: number): void {
    const value = within(next);
    setPercent(value);
    storeText(storageKey, String(value));
  }

  function onKeyDown(event: KeyboardEvent): void {
    const steps: Readonly<Record<string, number>> = {
      ArrowLeft: percent - step,
      ArrowRight: percent + step,
      Home: least,
      End: most,
      Enter: usual,
    };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    set(next);
  }

  function moveTo(x: number): void {
    const box = page.current?.getBoundingClientRect();
    if (box) set(((x - box.left) / box.width) * 100);
  }

  return (
    <div
      class="splitter"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={label}
      aria-controls={controls}
      aria-valuemin={least}
      aria-valuemax={most}
      aria-valuenow={Math.round(percent)}
      onKeyDown={onKeyDown}
      onDblClick={() => set(usual)}
      onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
      onPointerMove={({ currentTarget, pointerId, clientX }) =>
        currentTarget.hasPointerCapture(pointerId) && moveTo(clientX)
      }
    />
  );
}

function within(percent: number): number {
  return Number.isFinite(percent) ? Math.min(most, Math.max(least, percent)) : usual;
}
