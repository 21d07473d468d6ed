/** The real runtime for sources and layers. */
import type { Writable } from "node:stream";
import { logLine } from "../lib/log-line.ts";
import { createPackageNotices } from "../lib/missing-package.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import { wait } from "../lib/wait.ts";
import type { LogLevel, Runtime } from "../runtime.ts";
import { createLineLimit } from "./line-limit.ts";

export { logLine } from "../lib/log-line.ts";

const weight = { info: 0, warn: 1, error: 2 } as const;

/** Drops lines below `level` (default: PRESSMARK_LOG, else "warn"), limits repeated lines about a mount and what was requested of it, and names a missing package once. */
export function createRuntime(
  to: Pick<Writable, "write">,
  level: LogLevel = logLevel(process.env),
  env: Runtime["env"] = process.env,
): Runtime {
  const limit = createLineLimit();
  const isRepeatedNotice = createPackageNotices();
  return {
    now: Date.now,
    monotonicMs,
    wait,
    env,
    log(own, message, facts) {
      if (weight[own] < weight[level]) return;
      const line = logLine(own, message, facts);
      if (isRepeatedNotice(line)) return;
      const { mount, asked, uri } = facts ?? {};
      const missed = (count: number) => void to.write(logLine(own, message, { mount, asked, "times more": count }));
      if (limit.admits(`${own} ${String(mount)} ${String(asked)} ${message}`, String(uri).slice(0, 200), missed))
        to.write(line);
    },
  };
}

/** The log level from the environment. */
export function logLevel(env: Readonly<Record<string, string | undefined>>): LogLevel {
  const level = env["PRESSMARK_LOG"];
  return level === "info" || level === "warn" || level === "error" ? level : "warn";
}
