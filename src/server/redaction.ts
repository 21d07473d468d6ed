/** Creates the redaction for mounts that mask secrets. Loaded only if one does. */
import { redact } from "../layers/redact.ts";
import { maskSecrets } from "../lib/secrets.ts";
import type { Runtime } from "../source.ts";
import { cutPart } from "../backends/ranges/cut-part.ts";

export function createRedaction(runtime: Runtime) {
  return { layer: redact({ cut: cutPart }), runtime: { ...runtime, redact: (text: string) => maskSecrets(text).text } };
}
