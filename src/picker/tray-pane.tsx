/** The chosen resources, their cost, and buttons to copy or use them. */
import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import type { AppProps, Shared } from "./app.tsx";
import { CopyButton } from "./copy-button.tsx";
import type { Form } from "./create-choosing.ts";
import { TrayList } from "./tray-list.tsx";
import { UseIn } from "./use-in.tsx";
import { Lazily } from "./views/lazily.tsx";
import { trayTotal } from "./tray.ts";
import { writeChosen } from "./write-chosen.ts";
import { writtenTexts } from "./written-texts.ts";

/** Loaded when the sets are first shown. */
const loadSets = async () => ({ default: (await import("./tray-sets.tsx")).SetsPanel });

interface TrayProps extends Shared, Pick<AppProps, "use"> {
  /** Shown if nothing is chosen. */
  readonly empty: ComponentChild;
}

export function TrayPane({ picker, language, use, empty }: TrayProps) {
  const { texts, code } = language;
  const { tray, budget } = picker.state;
  const [hasSets, setHasSets] = useState(false);
  /** The text in the field while it is edited: it may be empty for a moment. */
  const [typedBudget, setTypedBudget] = useState<string>();
  const [said, setSaid] = useState("");
  const number = new Intl.NumberFormat(code);
  const percent = new Intl.NumberFormat(code, { style: "percent" });
  const { count: sum, isExact } = trayTotal(tray);
  const waiting = tray.filter(({ tokens, folder }) => folder?.isCounting ?? tokens === undefined).length;
  const forms: readonly (readonly [Form, string])[] = [
    ["markdown", texts.copyMarkdown],
    ["xml", texts.copyXml],
    ["uris", texts.copyUris],
  ];

  return (
    <aside class="tray" aria-label={texts.tray}>
      <div class="tray-top">
        <div class="tray-head">
          <h2>
            {texts.tray} <span class="badge">{tray.length}</span>
          </h2>
          {tray.length === 0 && picker.canUndoClear() ? (
            <button key="clear" type="button" onClick={picker.undoClear}>
              {texts.inTray.undo}
            </button>
          ) : (
            <button key="clear" type="button" aria-disabled={tray.length === 0} onClick={picker.clearTray}>
              {texts.clear}
            </button>
          )}
        </div>
        <meter
          min={0}
          optimum={0}
          low={budget * 0.8}
          high={budget}
          max={Math.max(budget, sum)}
          value={sum}
          aria-label={texts.spent}
        />
        <span class={sum > budget ? "over" : "sum"} role="status">
          {isExact ? "" : "≈ "}
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
            value={typedBudget ?? budget}
            onInput={({ currentTarget: { value, valueAsNumber } }) => {
              setTypedBudget(value);
              if (valueAsNumber > 0) picker.setBudget(valueAsNumber);
            }}
            onBlur={() => setTypedBudget(undefined)}
          />
        </label>
        {use &&
          forms.map(([form, label]) => <CopyAs key={form} {...{ picker, language, form, label }} say={setSaid} />)}
        <button
          type="button"
          aria-expanded={hasSets}
          aria-controls="sets"
          data-command
          onClick={() => {
            if (!hasSets) picker.loadSets();
            setHasSets(!hasSets);
          }}
        >
          {texts.set.title}
        </button>
        {!use && <UseIn {...{ picker, language }} say={setSaid} />}
        <span class="said" role="status">
          {said}
        </span>
      </div>
      {hasSets && (
        <Lazily
          load={loadSets}
          props={{ picker, language }}
          meanwhile={(state) => <p class="quiet">{state === "failed" ? texts.failed : texts.loading}</p>}
        />
      )}
      {tray.length === 0 ? empty : <TrayList {...{ picker, language }} />}
    </aside>
  );
}

interface CopyAsProps extends Shared {
  readonly form: Form;
  readonly label: string;
  readonly say: (text: string) => void;
}

function CopyAs({ picker, language, form, label, say }: CopyAsProps) {
  const { texts } = language;
  const { leftOut, progress } = writtenTexts(language);
  let left = "";
  return (
    <CopyButton
      texts={texts}
      label={label}
      say={say}
      disabled={picker.state.tray.length === 0}
      text={async () => {
        const made = await writeChosen(picker, form, (read, of) => say(progress(read, of)));
        left = leftOut(made);
        return made.text;
      }}
      done={() => texts.copied + left}
    />
  );
}
