/** The protocol that a handler serves, and the log for what clients must not see. */
import { invalid } from "../errors.ts";
import { logLine } from "../lib/log-line.ts";
import type { Protocol } from "../protocol/protocol.ts";
import type { Runtime } from "../runtime.ts";

/** What a handler needs of the app that it serves, as `createApp` returns it. */
export interface ServedApp {
  readonly protocol: Protocol;
  readonly runtime: Pick<Runtime, "log">;
}

/** The log is that of the app; a protocol alone has none, and what is logged goes to standard error. */
export function servedApp(served: ServedApp | Protocol): ServedApp {
  // Without types, anything can be passed.
  if (typeof served !== "object" || served === null || !("protocol" in served || "exchange" in served))
    throw invalid("a handler serves an app of `createApp`, or its protocol; pass one of them as the first argument");
  if ("protocol" in served) return served;
  return { protocol: served, runtime: { log: logToStandardError } };
}

const logToStandardError: Runtime["log"] = (level, message, facts) => {
  if (level !== "info") process.stderr.write(logLine(level, message, facts));
};
