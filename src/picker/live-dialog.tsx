/** A dialog that shows a live resource, and says if it loads, fails or is outdated. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Content, Resources } from "../resources.ts";
import { Failure, Waiting } from "./notes.tsx";
import { useLiveResource } from "./use-live-resource.ts";

interface LiveDialogProps<T> {
  readonly id: string;
  readonly class: string;
  readonly pressmark: Resources;
  readonly uri: string;
  readonly parse: (contents: readonly Content[]) => T;
  readonly texts: Readonly<Record<"title" | "close" | "stale" | "retry" | "loading" | "failed", string>>;
  /** After the title, once there is a value. */
  readonly version?: (value: T) => ComponentChildren;
  readonly close: () => void;
  readonly children: (value: T, dialog: { readonly now: number; leave(): void }) => ComponentChildren;
}

const tickMs = 10_000;

export function LiveDialog<T>(props: LiveDialogProps<T>) {
  const { id, pressmark, uri, parse, texts, version, close, children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const [turn, setTurn] = useState(0);
  const [now, setNow] = useState(Date.now());
  const { value, problem, isStale } = useLiveResource(pressmark, uri, parse, turn, setNow);

  useEffect(() => {
    dialog.current?.showModal();
    const tick = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(tick);
  }, []);

  const leave = (): void => dialog.current?.close();
  const retry = (): void => setTurn((before) => before + 1);
  return (
    <dialog ref={dialog} class={props.class} aria-labelledby={id} onClose={close}>
      <div class="state-top">
        <h2 id={id}>
          {texts.title} {value !== undefined && version?.(value)}
        </h2>
        <button type="button" onClick={leave}>
          {texts.close}
        </button>
      </div>
      {value !== undefined ? (
        <>
          {isStale && (
            <p class="stale" role="status">
              {texts.stale}{" "}
              <button type="button" onClick={retry}>
                {texts.retry}
              </button>
            </p>
          )}
          {children(value, { now, leave })}
        </>
      ) : problem === undefined ? (
        <Waiting text={texts.loading} />
      ) : (
        <Failure title={texts.failed} {...{ problem, texts, retry }} />
      )}
    </dialog>
  );
}
