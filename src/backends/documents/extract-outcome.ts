/** Results and failures of extracting the text of a document. */
import { type ErrorKind, quote, ResourceError } from "../../errors.ts";
import type { DocumentFault } from "./document-error.ts";

export interface ExtractedText {
  readonly mimeType: string;
  /** UTF-8. */
  readonly text: Buffer;
}

/** Why there is no text. The path is inserted for each caller, because callers may know the document under different paths. */
export interface Failure {
  readonly kind: ErrorKind;
  /** The text before and after the path. */
  readonly sentence: readonly [before: string, after: string];
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

export type Outcome = ExtractedText | Failure;

export function isExtractionFailure(outcome: Outcome): outcome is Failure {
  return "kind" in outcome;
}

export function toError({ kind, sentence: [before, after], details, cause }: Failure, path: string): ResourceError {
  return new ResourceError(kind, `${before}${quote(path)}${after}`, { cause, details });
}

export const cancelled: Failure = { kind: "cancelled", sentence: ["reading ", " was cancelled"] };

/** The document has changed since the requested version. */
export const changed: Failure = {
  kind: "unavailable",
  sentence: ["", " changed while it was read; try again"],
  details: { reason: "changed" },
};

export function tooMuchTime(timeoutMs: number): Failure {
  return overrun("time", `${timeoutMs} ms`);
}

export function tooMuchMemory(maxMiB: number): Failure {
  return overrun("memory", `${maxMiB} MiB of memory`);
}

function overrun(reason: "time" | "memory", what: string): Failure {
  return {
    kind: "too-large",
    sentence: ["extracting the text of ", ` took more than ${what}; read it without "as"`],
    details: { reason: `too-much-${reason}` },
  };
}

export function broken(cause?: unknown): Failure {
  return { kind: "unexpected", sentence: ["the text of ", " could not be extracted"], cause };
}

export function toFailure(fault: DocumentFault, message: string): Failure {
  const sentence = ["cannot extract text from ", `: ${message}`] as const;
  if (fault === "missing-package") return { kind: "unsupported", sentence };
  return { kind: fault === "too-large" ? "too-large" : "invalid", sentence, details: { reason: fault } };
}
