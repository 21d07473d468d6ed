/** What stands in place of content: a request that runs, or one that failed. */
import type { PickerTexts } from "./texts.ts";

export function Waiting({ text }: { readonly text: string }) {
  return (
    <p class="state" role="status">
      {text}
    </p>
  );
}

interface FailureProps {
  readonly title: string;
  readonly problem: string | undefined;
  readonly texts: Pick<PickerTexts, "retry">;
  readonly retry: () => void;
}

export function Failure({ title, problem, texts, retry }: FailureProps) {
  return (
    <div class="state" role="alert">
      <p class="state-title">{title}</p>
      <p class="quiet">{problem}</p>
      <button type="button" onClick={retry}>
        {texts.retry}
      </button>
    </div>
  );
}
