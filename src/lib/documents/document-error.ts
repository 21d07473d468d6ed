/** Why no text can be taken out of a document, in words for a person. */

export type DocumentFault =
  /** It is not what it says it is, or is broken. */
  | "malformed"
  /** A password is needed. */
  | "protected"
  /** It unpacks to more than is good for anyone. */
  | "too-large"
  /** There is none in it. */
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
