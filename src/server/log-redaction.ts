/** Removes values of a config's references from the log. */
import type { Config } from "../config/config.ts";
import type { Runtime } from "../source.ts";

/** The same runtime with a redacted log. */
export function createLogRedaction(runtime: Runtime) {
  let configs: readonly Pick<Config, "redact">[] = [];

  function clean(value: unknown): unknown {
    if (value instanceof Error) return clean(value.message);
    if (typeof value === "string") return configs.reduce((text, { redact }) => redact(text), value);
    if (typeof value !== "object" || value === null) return value;
    try {
      return clean(JSON.stringify(value));
    } catch {
      return clean(String(value));
    }
  }

  const redacted: Runtime = {
    env: runtime.env,
    now: runtime.now,
    monotonicMs: runtime.monotonicMs,
    wait: runtime.wait,
    log(level, message, facts) {
      const cleaned = facts && Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, clean(fact)]));
      runtime.log(level, String(clean(message)), cleaned);
    },
  };
  return {
    runtime: redacted,
    /** Redacts the secrets of this config, and of the one before, whose sources may still log. */
    keep(config: Pick<Config, "redact">): void {
      configs = [config, ...configs.slice(0, 1)];
    },
  };
}
