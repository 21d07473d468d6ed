/** The real runtime for sources and layers. */
import type { Writable } from "node:stream";
import { jsonLogLine, logLine } from "../lib/log-line.ts";
import { createPackageNotices } from "../lib/missing-package.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import { currentSpan, requestScope } from "../lib/request-scope.ts";
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
  format: "text" | "json" = logFormat(env),
): Runtime {
  const limit = createLineLimit();
  const isRepeatedNotice = createPackageNotices();

  /** With the request that it belongs to. */
  function toLine(own: LogLevel, message: string, facts: Readonly<Record<string, unknown>> | undefined): string {
    const requestId = requestScope()?.id;
    const traceId = currentSpan()?.traceId;
    if (format === "json") return jsonLogLine(own, message, facts, { timeMs: Date.now(), requestId, traceId });
    if (requestId === undefined && traceId === undefined) return logLine(own, message, facts);
    return logLine(own, message, { ...facts, request: requestId, trace: traceId });
  }

  return {
    now: Date.now,
    monotonicMs,
    wait,
    env,
    log(own, message, facts) {
      if (weight[own] < weight[level]) return;
      const line = toLine(own, message, facts);
      if (isRepeatedNotice(format === "json" ? logLine(own, message, facts) : line)) return;
      const { mount, asked, uri } = facts ?? {};
      const missed = (count: number) => void to.write(toLine(own, message, { mount, asked, "times more": count }));
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

/** The format of the log from the environment. */
export function logFormat(env: Readonly<Record<string, string | undefined>>): "text" | "json" {
  return env["PRESSMARK_LOG_FORMAT"] === "json" ? "json" : "text";
}
