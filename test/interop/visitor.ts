/** An official client, whichever it is, as someone who visits a folder. */
import type { Heard } from "./heard.ts";

export interface ReadContent {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
}

export interface Visitor extends AsyncDisposable {
  /** The revision that was agreed on. */
  readonly revision: string | undefined;
  readonly server: string | undefined;
  /** Page by page, to the end. */
  pages(): Promise<readonly (readonly string[])[]>;
  read(uri: string): Promise<readonly ReadContent[]>;
  templates(): Promise<readonly string[]>;
  complete(template: string, variable: string, value: string): Promise<readonly string[]>;
  /** Resolves once every later change of this resource, and of the list, is heard of. */
  watch(uri: string): Promise<void>;
  /** "updated URI" and "list-changed". */
  readonly heard: Heard;
}
