/** Checks whether the config is valid and trusted. */
import { type ConfigOrigin, loadConfig, trustCommand } from "../config/load-config.ts";
import { ConfigError } from "../config/problem.ts";
import { asksFor, leftOut, notUsed } from "../config/trust.ts";
import { stateFolder, systemPathsOf } from "../lib/system-paths.ts";
import type { CheckResult } from "./examine.ts";

export async function examineConfig(
  origin: ConfigOrigin | undefined,
  from: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<CheckResult[]> {
  const about = "config";
  if (!origin)
    return [
      { about, state: "ok", says: "no config, so the folder itself is served", advice: "pressmark init writes one" },
    ];
  const advice = trustCommand(origin.file, from);
  try {
    const loaded = await loadConfig(origin, { from, env, stateFolder: stateFolder(systemPathsOf(env)) });
    if ("untrusted" in loaded)
      return [
        {
          about,
          state: "hint",
          says: `${origin.file} ${asksFor(loaded.untrusted)}, ${notUsed(loaded.untrusted)}; the folder itself is served`,
          advice,
        },
      ];
    const { withheld, faulty } = loaded.config;
    const says = faulty.length === 0 ? "can be read" : `is used without ${faulty.map(({ name }) => name).join(", ")}`;
    return [
      { about, state: "ok", says: `${origin.file} ${says}` },
      ...withheld.map((permission): CheckResult => ({
        about,
        state: "hint",
        says: `it ${asksFor(permission)}, ${leftOut(permission)}`,
        advice,
      })),
    ];
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    return cause.lines.map((says): CheckResult => ({ about, state: "broken", says }));
  }
}
