/** A log that never holds what a config's references stood for. */
import type { Config } from "../config/config.ts";
import type { Runtime } from "../source.ts";

export interface LogRedaction {
  /** The same world, with a log that keeps secrets. */
  readonly runtime: Runtime;
  /** From here on, the secrets of this config are kept; those of the one before too, for its sources may still speak. */
  keep(config: Pick<Config, "redact">): void;
}

export function createLogRedaction(runtime: Runtime): LogRedaction {
  let kept: readonly Pick<Config, "redact">[] = [];

  function clean(value: unknown): unknown {
    if (value instanceof Error) return clean(value.message);
    if (typeof value === "string") return kept.reduce((text, { redact }) => redact(text), value);
    if (typeof value !== "object" || value === null) return value;
    try {
      return clean(JSON.stringify(value));
    } catch {
      return clean(String(value));
    }
  }

  return {
    runtime: {
      now: runtime.now,
      monotonicMs: runtime.monotonicMs,
      wait: runtime.wait,
      log(level, message, facts) {
        const said = facts && Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, clean(fact)]));
        runtime.log(level, String(clean(message)), said);
      },
    },
    keep(config) {
      kept = [config, ...kept.slice(0, 1)];
    },
  };
}
