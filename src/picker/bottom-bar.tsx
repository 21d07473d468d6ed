/** The bar at the bottom: the views of a phone, the sum of what is chosen where the tray is hidden, and the button that passes it on. */
import { useState } from "preact/hooks";
import type { AppProps, Shared } from "./app.tsx";
import { markedTokens } from "./facts.ts";
import { Tabs } from "./tabs.tsx";
import { trayTotal } from "./tray.ts";
import { UseIn } from "./use-in.tsx";
import { type PhoneView, phoneViews } from "./use-phone-view.ts";
import { UseThese } from "./use-these.tsx";

interface BarProps extends Shared, Pick<AppProps, "use"> {
  readonly view: PhoneView;
  readonly go: (view: PhoneView) => void;
  readonly showTray: () => void;
}

const icons = {
  list: "M3 4.5h1 M3 8h1 M3 11.5h1 M6.5 4.5H13 M6.5 8H13 M6.5 11.5H13",
  preview: "M4 1.5h5.5l3 3v10H4z M9.5 1.5v3h3 M6 8h4.5 M6 11h4.5",
  tray: "M2 9.5 4 3.5h8l2 6v3.5H2z M2 9.5h3.5l1 1.5h3l1-1.5H14",
} as const;

export function BottomBar({ picker, language, view, go, showTray, use }: BarProps) {
  const { texts, code } = language;
  const [said, setSaid] = useState("");
  const { tray } = picker.state;
  const { layout } = texts;
  const sum = markedTokens(trayTotal(tray), texts, new Intl.NumberFormat(code));
  const names = { list: layout.list, preview: texts.preview, tray: texts.tray };
  return (
    <div class={use ? "bar has-use" : "bar"}>
      <Tabs
        label={layout.phoneViews}
        tabs={phoneViews.map((id) => ({
          id,
          name: names[id],
          icon: icons[id],
          controls: id,
          ...(id === "tray" && tray.length > 0 && { badge: tray.length }),
        }))}
        chosen={view}
        choose={go}
      />
      <button type="button" class="bar-sum" aria-expanded={false} title={layout.showTray} onClick={showTray}>
        <b>{layout.chosenCount(tray.length)}</b> <span class="quiet">{sum}</span>
      </button>
      {use ? (
        <UseThese {...{ picker, language, use }} sum={`${tray.length} · ${sum}`} />
      ) : (
        <div class="bar-use">
          <span class="said" role="status">
            {said}
          </span>
          <UseIn {...{ picker, language }} say={setSaid} />
        </div>
      )}
    </div>
  );
}
