/** Removes values of a config's references from the log. */
import type { Config } from "../config/config.ts";
import type { Runtime } from "../source.ts";

/** A mount may stay as it was in a config of long ago. */
const maxConfigs = 100;

/** The same runtime with a redacted log. */
export function createLogRedaction(runtime: Runtime) {
  let redactors: readonly Config["redact"][] = [];

  function clean(value: unknown): unknown {
    if (typeof value === "string") return redactors.reduce((text, redact) => redact(text), value);
    if ((typeof value !== "object" && typeof value !== "function") || value === null) return value;
    return clean(textOf(value));
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
    /** Redacts the secrets of this config, and of those before, whose sources may still log. Returns a function that undoes it. */
    keep({ redact }: Pick<Config, "redact">): () => void {
      const before = redactors;
      redactors = [redact, ...redactors.slice(0, maxConfigs - 1)];
      return () => (redactors = before);
    },
  };
}

/** Never throws: a source may log anything. */
function textOf(value: object): string | undefined {
  for (const toText of [
    () => (value instanceof Error ? String(value.message) : JSON.stringify(value)),
    () => String(value),
  ])
    try {
      return toText();
    } catch {
      // The next way may do.
    }
  return "a value that cannot be shown";
}
