/** What every renderer is given. Each is a file of its own, loaded when content of its kind is looked at. */
import type { ComponentChild } from "preact";
import type { Language } from "../texts.ts";

export interface ViewProps {
  /** All that has been read so far. */
  readonly text: string;
  /** The MIME type without what follows a semicolon, in lower case. */
  readonly type: string;
  readonly uri: string;
  readonly name: string;
  /** Whether nothing more is to come. */
  readonly isWhole: boolean;
  readonly language: Language;
  /** Opens another resource. */
  readonly follow: (uri: string) => void;
}

export type View = (props: ViewProps) => ComponentChild;
