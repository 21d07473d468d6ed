/** The chosen resources, their cost, and buttons to copy or use them. */
import { useState } from "preact/hooks";
import type { AppProps, Shared } from "./app.tsx";
import { CopyButton } from "./copy-button.tsx";
import type { Form } from "./create-choosing.ts";
import { SetsPanel } from "./tray-sets.tsx";
import { TrayList } from "./tray-list.tsx";
import { trayTotal } from "./tray.ts";

export function TrayPane({ picker, language, use }: Shared & Pick<AppProps, "use">) {
  const { texts, code } = language;
  const { tray, budget } = picker.state;
  const [hasSets, setHasSets] = useState(false);
  const [said, setSaid] = useState("");
  const number = new Intl.NumberFormat(code);
  const percent = new Intl.NumberFormat(code, { style: "percent" });
  const sum = trayTotal(tray);
  const waiting = tray.filter(({ tokens }) => tokens === undefined).length;
  const forms: readonly (readonly [Form, string])[] = [
    ["markdown", texts.copyMarkdown],
    ["xml", texts.copyXml],
    ["uris", texts.copyUris],
  ];

  return (
    <aside class="tray" aria-label={texts.tray}>
      <div class="tray-top">
        <h2>
          {texts.tray} <span class="badge">{tray.length}</span>
        </h2>
        <meter min={0} max={budget} high={budget * 0.8} value={Math.min(sum, budget)} aria-label={texts.spent} />
        <span class={sum > budget ? "over" : "sum"} role="status">
          {texts.tokensOf(number.format(sum), number.format(budget))} (
          {sum > budget ? texts.overBudget(number.format(sum - budget)) : percent.format(sum / budget)})
          {waiting > 0 && ` · ${texts.counting}`}
        </span>
        <label>
          {texts.budget}{" "}
          <input
            type="number"
            min={1000}
            step={1000}
            value={budget}
            onChange={({ currentTarget: { valueAsNumber } }) => valueAsNumber > 0 && picker.setBudget(valueAsNumber)}
          />
        </label>
        {forms.map(([form, label]) => (
          <CopyAs key={form} {...{ picker, language, form, label }} say={setSaid} />
        ))}
        <button
          type="button"
          aria-expanded={hasSets}
          aria-controls="sets"
          onClick={() => {
            if (!hasSets) picker.loadSets();
            setHasSets(!hasSets);
          }}
        >
          {texts.set.title}
        </button>
        <button type="button" aria-disabled={tray.length === 0} onClick={picker.clearTray}>
          {texts.clear}
        </button>
        <span class="said" role="status">
          {said}
        </span>
        {use && (
          <button
            type="button"
            class="use"
            disabled={tray.length === 0}
            onClick={() => use(tray.map(({ resource }) => resource))}
          >
            {texts.useThese}
          </button>
        )}
      </div>
      {hasSets && <SetsPanel {...{ picker, language }} />}
      {tray.length === 0 ? <p class="quiet">{texts.emptyTray}</p> : <TrayList {...{ picker, language }} />}
    </aside>
  );
}

interface CopyAsProps extends Shared {
  readonly form: Form;
  readonly label: string;
  readonly say: (text: string) => void;
}

function CopyAs({ picker, language: { texts }, form, label, say }: CopyAsProps) {
  let left = 0;
  return (
    <CopyButton
      texts={texts}
      label={label}
      say={say}
      disabled={picker.state.tray.length === 0}
      text={async () => {
        const made = await picker.written(form);
        left = made.left;
        return made.text;
      }}
      done={() => (left === 0 ? texts.copied : texts.notAllCopied(left))}
    />
  );
}
