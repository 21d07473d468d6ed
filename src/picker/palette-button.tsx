/** Opens the command palette by key or button; the palette is loaded when it is first opened. */
import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { wholeUri } from "../lib/passage-uri.ts";
import type { Resource } from "../resources.ts";
import type { Shared } from "./app.tsx";
import { isCommandKey, keyNames } from "./key-names.ts";
import type { PaletteProps } from "./palette.tsx";

interface PaletteButtonProps extends Shared {
  readonly keys: EventTarget;
  readonly toggleFilters: () => void;
  readonly focusSearch: (text?: string) => void;
}

const maxRecent = 20;
const messageMs = 4000;

export function PaletteButton({ keys, ...shared }: PaletteButtonProps) {
  const { picker, language } = shared;
  const { texts } = language;
  const [isOpen, setIsOpen] = useState(false);
  const [message, setMessage] = useState("");
  const [loaded, setLoaded] = useState<{ readonly Palette: ComponentType<PaletteProps> }>();
  const recent = useRef<readonly Resource[]>([]);
  const button = useRef<HTMLButtonElement>(null);

  useEffect(() => {
    const ended = new AbortController();
    const press = (event: Event): void => {
      if (!(event instanceof KeyboardEvent) || event.isComposing || event.altKey || event.shiftKey) return;
      // By code: the letter depends on the layout and the language.
      if (!isCommandKey(event) || event.code !== "KeyK") return;
      event.preventDefault();
      setIsOpen((before) => !before);
    };
    keys.addEventListener("keydown", press, { signal: ended.signal });
    picker.onChange(() => {
      const opened = picker.state.preview?.resource;
      const [last] = recent.current;
      if (!opened || (last && wholeUri(opened.uri) === wholeUri(last.uri))) return;
      const others = recent.current.filter(({ uri }) => wholeUri(uri) !== wholeUri(opened.uri));
      recent.current = [opened, ...others].slice(0, maxRecent);
    }, ended.signal);
    return () => ended.abort();
  }, [picker]);

  useEffect(() => {
    if (!isOpen || loaded) return;
    import("./palette.tsx").then(
      ({ Palette }) => setLoaded({ Palette }),
      () => {
        setIsOpen(false);
        setMessage(texts.offline);
      },
    );
  }, [isOpen, loaded]);

  useEffect(() => {
    if (message === "") return undefined;
    const end = setTimeout(() => setMessage(""), messageMs);
    return () => clearTimeout(end);
  }, [message]);

  const page = button.current?.closest(".page");
  return (
    <>
      <button
        ref={button}
        type="button"
        class="palette-button"
        aria-keyshortcuts={keyNames().control === "⌘" ? "Meta+K" : "Control+K"}
        title={texts.commands}
        onClick={() => setIsOpen(true)}
      >
        <span class="palette-word">{texts.commands} </span>
        <kbd>{keyNames().control}K</kbd>
      </button>
      <p class="toast" role="status">
        {message}
      </p>
      {isOpen && loaded && page && (
        <loaded.Palette
          {...shared}
          page={page}
          recent={recent.current}
          close={() => setIsOpen(false)}
          say={setMessage}
        />
      )}
    </>
  );
}
