/** The button that passes the chosen resources on: to the page around the element, or to the host of the frame. */
import { useState } from "preact/hooks";
import type { Shared } from "./app.tsx";
import type { Expansion } from "./create-folder-choice.ts";

interface UseTheseProps extends Shared {
  readonly use: (chosen: Expansion) => void;
  /** Their number and tokens. */
  readonly sum: string;
}

export function UseThese({ picker, language: { texts }, use, sum }: UseTheseProps) {
  const [said, setSaid] = useState("");
  const [isBusy, setIsBusy] = useState(false);

  /** Never passes on nothing, and says what is missing. */
  async function pass(): Promise<void> {
    setIsBusy(true);
    setSaid("");
    try {
      const chosen = await picker.expanded();
      if (chosen.resources.length > 0) use(chosen);
      if (chosen.failed > 0) setSaid(texts.inTray.notListed(chosen.failed));
      else if (chosen.resources.length === 0) setSaid(texts.inTray.noFiles);
    } catch {
      setSaid(texts.failed);
    }
    setIsBusy(false);
  }

  return (
    <>
      <span class="said" role="status">
        {said}
      </span>
      <button
        type="button"
        class="use primary"
        disabled={picker.state.tray.length === 0 || isBusy}
        onClick={() => void pass()}
      >
        {texts.useThese} <small>{sum}</small>
      </button>
    </>
  );
}
