/** The real runtime for sources and layers. */
import type { Writable } from "node:stream";
import { createPackageNotices } from "../lib/missing-package.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import { wait } from "../lib/wait.ts";
import type { LogLevel, Runtime } from "../runtime.ts";
import { createLineLimit } from "./line-limit.ts";

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

/** One line of limited length: names in the facts come from backends and callers. */
export function logLine(level: LogLevel, message: string, facts: Readonly<Record<string, unknown>> = {}): string {
  const details = Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${short(format(value), 200)}`);
  return `pressmark ${level}: ${short(oneLine(message), 500)}${details.length > 0 ? ` (${details.join(", ")})` : ""}\n`;
}

function format(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(value.message);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return JSON.stringify(String(value));
  }
}

function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are intended
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ");
}

function short(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}
