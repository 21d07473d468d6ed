/** The runtime of one mount: every log line of its source names the mount. */
import type { Runtime } from "../source.ts";

export function mountRuntime(runtime: Runtime, mount: string): Runtime {
  return {
    ...runtime,
    mount,
    log: (level, message, facts) => runtime.log(level, message, { mount, ...facts }),
  };
}
