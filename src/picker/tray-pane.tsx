/** What was chosen, what it costs, and a way to take it along. */
import { useState } from "preact/hooks";
import type { Shared } from "./app.tsx";
import { total } from "./tray.ts";

export function TrayPane({ picker, language: { texts, code } }: Shared) {
  const { tray, budget } = picker.state;
  const [said, setSaid] = useState("");
  const number = new Intl.NumberFormat(code);
  const sum = total(tray);

  async function copy(text: () => Promise<string>, done: () => string): Promise<void> {
    try {
      await navigator.clipboard.writeText(await text());
      setSaid(done());
    } catch {
      setSaid(texts.notCopied);
    }
  }

  let left = 0;
  const markdown = async (): Promise<string> => {
    const made = await picker.markdown();
    left = made.left;
    return made.text;
  };

  return (
    <aside class="tray" aria-label={texts.tray}>
      <div class="tray-top">
        <h2>
          {texts.tray} <span class="badge">{tray.length}</span>
        </h2>
        <meter min={0} max={budget} high={budget * 0.8} value={Math.min(sum, budget)} aria-label={texts.budget} />
        <span class={sum > budget ? "over" : "sum"} role="status">
          {texts.tokensOf(number.format(sum), number.format(budget))}
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
        <button
          type="button"
          disabled={tray.length === 0}
          onClick={() => void copy(markdown, () => (left === 0 ? texts.copied : texts.notAllCopied(left)))}
        >
          {texts.copyMarkdown}
        </button>
        <button
          type="button"
          disabled={tray.length === 0}
          onClick={() =>
            void copy(
              async () => tray.map(({ resource }) => `${resource.uri}\n`).join(""),
              () => texts.copied,
            )
          }
        >
          {texts.copyUris}
        </button>
        <button type="button" disabled={tray.length === 0} onClick={picker.clearTray}>
          {texts.clear}
        </button>
        <span class="said" role="status">
          {said}
        </span>
      </div>
      {tray.length === 0 ? (
        <p class="quiet">{texts.emptyTray}</p>
      ) : (
        <ol class="chosen">
          {tray.map(({ resource, tokens }) => (
            <li key={resource.uri}>
              <button type="button" class="link" title={resource.uri} onClick={() => picker.preview(resource)}>
                {resource.name}
              </button>
              <span class="size">
                {tokens === undefined
                  ? texts.counting
                  : tokens === "none"
                    ? texts.noTokens
                    : texts.tokens(number.format(tokens))}
              </span>
              <button
                type="button"
                class="small"
                aria-label={texts.up(resource.name)}
                onClick={() => picker.shift(resource.uri, -1)}
              >
                ↑
              </button>
              <button
                type="button"
                class="small"
                aria-label={texts.down(resource.name)}
                onClick={() => picker.shift(resource.uri, 1)}
              >
                ↓
              </button>
              <button
                type="button"
                class="small"
                aria-label={texts.unchoose(resource.name)}
                onClick={() => picker.toggle(resource)}
              >
                ×
              </button>
            </li>
          ))}
        </ol>
      )}
    </aside>
  );
}
