/** A button that copies, and shows whether it succeeded. */
import { useState } from "preact/hooks";
import type { PickerTexts } from "./texts.ts";

interface CopyProps {
  readonly texts: PickerTexts;
  readonly label: string;
  readonly text: () => Promise<string>;
  readonly disabled?: boolean;
  readonly isSmall?: boolean;
  /** Text after copying. Default: "Copied". */
  readonly done?: () => string;
  /** Shows the text elsewhere, where it moves no buttons. */
  readonly say?: (text: string) => void;
}

export function CopyButton({
  texts,
  label,
  text,
  disabled = false,
  isSmall = false,
  done = () => texts.copied,
  say,
}: CopyProps) {
  const [said, setSaid] = useState("");
  const tell = say ?? setSaid;
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(await text());
      tell(done());
    } catch {
      tell(texts.notCopied);
    }
  }
  return (
    <>
      <button type="button" class={isSmall ? "small" : ""} disabled={disabled} onClick={() => void copy()}>
        {label}
      </button>
      {!say && (
        <span class="said" role="status">
          {said}
        </span>
      )}
    </>
  );
}
