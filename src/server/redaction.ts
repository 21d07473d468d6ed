/** What a mount that masks secrets is opened with. Loaded only where one does. */
import type { Layer } from "../layer.ts";
import { redact } from "../layers/redact.ts";
import { maskSecrets } from "../lib/secrets.ts";
import type { Tools } from "../source.ts";
import { cutPart } from "../sources/file/cut-part.ts";

export interface Redaction {
  readonly layer: Layer;
  readonly tools: Tools;
}

export function createRedaction(tools: Tools): Redaction {
  return { layer: redact({ cut: cutPart }), tools: { ...tools, redact: (text) => maskSecrets(text).text } };
}
