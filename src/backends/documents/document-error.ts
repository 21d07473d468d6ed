/** Why no text can be extracted from a document, for people. */

export type DocumentFault =
  /** It is damaged, or has another type than stated. */
  | "malformed"
  /** It needs a password. */
  | "protected"
  /** It is too large when unpacked. */
  | "too-large"
  /** It contains no text. */
  | "no-text"
  /** A package that reads it is not installed. */
  | "missing-package";

export class DocumentError extends Error {
  override readonly name = "DocumentError";
  readonly fault: DocumentFault;

  constructor(fault: DocumentFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.fault = fault;
  }
}
