/** One content: as an image, with the renderer of its type, or as text. */
import { useMemo } from "preact/hooks";
import type { PreviewContent } from "../shown.ts";
import type { Language } from "../texts.ts";
import { viewFor, views } from "./choose-view.ts";
import { Lazily, type Load } from "./lazily.tsx";
import { Picture } from "./picture.tsx";
import { TextView } from "./text-view.tsx";
import type { ViewProps } from "./view.ts";

interface ContentProps {
  readonly shown: PreviewContent;
  readonly name: string;
  readonly language: Language;
  readonly follow: (uri: string, title?: string) => void;
}

export function ContentView({ shown, name, language, follow }: ContentProps) {
  if (shown.isPicture)
    return <Picture body={"text" in shown ? shown.text : shown.bytes} type={shown.type} name={name} />;
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
