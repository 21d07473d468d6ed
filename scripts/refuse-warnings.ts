/** What a bundler only warns of is missing when it runs. */
import type { LogLevel, RolldownLog } from "rolldown";

/** A module that is loaded late in one place and early in another is no fault of either; nor is a machine that has other work. */
const harmless: ReadonlySet<string> = new Set(["INEFFECTIVE_DYNAMIC_IMPORT", "PLUGIN_TIMINGS"]);

export function refuseWarnings(level: LogLevel, { code = "", message }: RolldownLog): void {
  if (level === "warn" && !harmless.has(code)) throw new Error(`${code}: ${message}`);
}
