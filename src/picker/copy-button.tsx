/** A button that copies, and shows whether it succeeded. */
import { useState } from "preact/hooks";
import { ResourceError } from "../errors.ts";
import { copyText } from "./copy-text.ts";
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
      await copyText(text());
      tell(done());
    } catch (cause) {
      tell(whyNotCopied(cause, texts));
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

/** Either there is no text to copy, or the browser refused. */
export function whyNotCopied(cause: unknown, { cancelled, noText, notCopied }: PickerTexts): string {
  if (isCancelled(cause)) return cancelled;
  return cause instanceof ResourceError && cause.kind === "unsupported" ? noText : notCopied;
}

export function isCancelled(cause: unknown): boolean {
  if (cause instanceof ResourceError) return cause.kind === "cancelled";
  return cause instanceof DOMException && cause.name === "AbortError";
}
