/** Creates the redaction for mounts that mask secrets. Loaded only if one does. */
import type { Layer } from "../layer.ts";
import { redact } from "../layers/redact.ts";
import { maskSecrets } from "../lib/secrets.ts";
import type { Runtime } from "../source.ts";
import { cutPart } from "../backends/ranges/cut-part.ts";

export interface Redaction {
  readonly layer: Layer;
  readonly runtime: Runtime;
}

export function createRedaction(runtime: Runtime): Redaction {
  return { layer: redact({ cut: cutPart }), runtime: { ...runtime, redact: (text) => maskSecrets(text).text } };
}
