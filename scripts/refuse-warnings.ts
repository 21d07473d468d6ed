/** Turns bundler warnings into errors, because they fail at run time. */
import type { LogLevel, RolldownLog } from "rolldown";

/** Harmless: a module that is imported both statically and dynamically, and a slow machine. */
const harmless: ReadonlySet<string> = new Set(["INEFFECTIVE_DYNAMIC_IMPORT", "PLUGIN_TIMINGS"]);

export function refuseWarnings(level: LogLevel, { code = "", message }: RolldownLog): void {
  if (level === "warn" && !harmless.has(code)) throw new Error(`${code}: ${message}`);
}
