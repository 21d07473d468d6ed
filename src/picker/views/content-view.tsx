/** One content: as an image, with the renderer of its type, or as text. */
import { useEffect, useMemo, useState } from "preact/hooks";
import type { PreviewContent } from "../shown.ts";
import type { Language } from "../texts.ts";
import { viewFor, views } from "./choose-view.ts";
import { Lazily, type Load } from "./lazily.tsx";
import { TextView } from "./text-view.tsx";
import type { ViewProps } from "./view.ts";

interface ContentProps {
  readonly shown: PreviewContent;
  readonly name: string;
  readonly language: Language;
  readonly follow: (uri: string) => void;
}

export function ContentView({ shown, name, language, follow }: ContentProps) {
  if (shown.isPicture) return <Picture {...{ shown, name }} />;
  return "text" in shown ? <RenderedView {...{ shown, name, language, follow }} /> : null;
}

interface RenderedProps extends ContentProps {
  readonly shown: Extract<PreviewContent, { readonly text: string }>;
}

function RenderedView({ shown: { text, type, uri, isWhole }, name, language, follow }: RenderedProps) {
  const view = viewFor(type, text, isWhole);
  const props: ViewProps = useMemo(
    () => ({ text, type, uri, name, isWhole, language, follow }),
    [text, type, uri, name, isWhole, language],
  );
  if (view === undefined) return <TextView text={text} />;
  return (
    <Lazily
      key={view}
      load={views[view] as Load<ViewProps>}
      props={props}
      meanwhile={(state) => (
        <>
          {state === "failed" && (
            <p class="quiet" role="status">
              {language.texts.shown.noView}
            </p>
          )}
          <TextView text={text} />
        </>
      )}
    />
  );
}

/** As an image element, which runs no scripts and fetches nothing. */
function Picture({ shown, name }: Pick<ContentProps, "shown" | "name">) {
  const [address, setAddress] = useState<string>();
  const { type } = shown;
  const body = "text" in shown ? shown.text : shown.bytes;
  useEffect(() => {
    const blob = new Blob([typeof body === "string" ? body : new Uint8Array(body)], { type });
    if (takesData()) return readAddress(blob, setAddress);
    const made = URL.createObjectURL(blob);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [body, type]);
  return address === undefined ? null : <img class="shown-picture" src={address} alt={name} />;
}

/** Inside a host, images may come from `data:` addresses only. */
function takesData(): boolean {
  return document.documentElement.dataset["pictures"] === "data";
}

/** Returns a function that cancels it. */
function readAddress(blob: Blob, done: (address: string) => void): () => void {
  const reader = new FileReader();
  reader.addEventListener("load", () => done(String(reader.result)));
  reader.readAsDataURL(blob);
  return () => reader.abort();
}
