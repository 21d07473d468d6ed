/** The props of every renderer. Each is in its own file, loaded on demand. */
import type { Language } from "../texts.ts";

export interface ViewProps {
  /** Everything read so far. */
  readonly text: string;
  /** The MIME type without parameters, in lowercase. */
  readonly type: string;
  readonly uri: string;
  readonly name: string;
  /** True if everything has been read. */
  readonly isWhole: boolean;
  readonly language: Language;
  /** Opens another resource, with this title if the view knows one. */
  readonly follow: (uri: string, title?: string) => void;
}
