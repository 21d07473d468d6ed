/** Notes of the preview: nothing to show, or outdated content. */
import type { PreviewState } from "./state.ts";
import type { PickerTexts } from "./texts.ts";

interface FailedProps {
  readonly preview: PreviewState;
  readonly texts: PickerTexts;
  readonly retry: () => void;
}

export function Failed({ preview: { problem, problemKind }, texts, retry }: FailedProps) {
  return (
    <div class="state" role="alert">
      <p class="state-title">{titleOf()}</p>
      <p class="quiet">{problem}</p>
      <button type="button" onClick={retry}>
        {texts.retry}
      </button>
    </div>
  );

  function titleOf(): string {
    switch (problemKind) {
      case "not-found":
        return texts.shown.notThere;
      case "denied":
        return texts.shown.denied;
      case "too-large":
        return texts.shown.tooLarge;
      case "unavailable":
      case "busy":
        return texts.shown.unavailable;
      default:
        return texts.failed;
    }
  }
}

interface NewsProps {
  readonly texts: PickerTexts;
  readonly isGone: boolean;
  /** Time of the change while it was shown; empty if there was none. */
  readonly when: string;
}

export function News({ texts, isGone, when }: NewsProps) {
  return (
    <p class={isGone ? "news gone" : "news"} role="status">
      {isGone ? texts.gone : when !== "" && texts.updated(when)}
    </p>
  );
}
