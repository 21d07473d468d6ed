/** On a narrow page, the list, the preview and the tray are views of their own: tells which one is shown. */
import { type RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Picker } from "./create-picker.ts";

export const phoneViews = ["list", "preview", "tray"] as const;
export type PhoneView = (typeof phoneViews)[number];

/** In CSS pixels, as in the style sheet. */
const narrow = 720;

interface PhoneViewOptions {
  readonly picker: Picker;
  readonly page: RefObject<HTMLElement | null>;
  /** Whether the browser's Back returns to the list. */
  readonly hasHistory: boolean;
}

/** Opening a resource shows the preview; searching and going to a folder show the list. */
export function usePhoneView({ picker, page, hasHistory }: PhoneViewOptions) {
  const [view, setView] = useState<PhoneView>("list");
  const { gathering, preview, revealed, search, view: section } = picker.state;
  const uri = preview?.resource.uri;
  const isLoading = preview?.status === "loading";
  const last = useRef(uri);

  function go(next: PhoneView): void {
    setView(next);
    if (!hasHistory || next === view || (page.current?.clientWidth ?? narrow) >= narrow) return;
    const isPushed = viewIn(history.state) !== undefined;
    if (next === "list") {
      if (isPushed) history.back();
    } else if (isPushed) history.replaceState({ view: next }, "");
    else history.pushState({ view: next }, "");
  }

  useEffect(() => {
    if (uri !== undefined && (isLoading || uri !== last.current)) go("preview");
    last.current = uri;
  }, [uri, isLoading]);
  useEffect(() => {
    if (revealed !== undefined || search.text !== "") go("list");
  }, [revealed, search.text]);
  useEffect(() => go("list"), [section, gathering.task]);
  useEffect(() => {
    if (!hasHistory) return undefined;
    const ended = new AbortController();
    const back = ({ state }: PopStateEvent): void => setView(viewIn(state) ?? "list");
    addEventListener("popstate", back, { signal: ended.signal });
    return () => ended.abort();
  }, [hasHistory]);

  return { view, go };
}

function viewIn(state: unknown): PhoneView | undefined {
  const wanted = (state as { readonly view?: unknown } | null)?.view;
  return phoneViews.find((each) => each === wanted);
}
