/** The real runtime for sources and layers. */
import type { Writable } from "node:stream";
import { createPackageNotices } from "../lib/missing-package.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import { visibleText } from "../lib/visible-text.ts";
import { wait } from "../lib/wait.ts";
import type { LogLevel, Runtime } from "../runtime.ts";
import { createLineLimit } from "./line-limit.ts";

const weight = { info: 0, warn: 1, error: 2 } as const;

/** Drops lines below `level` (default: PRESSMARK_LOG, else "warn"), limits repeated lines of a mount, and names a missing package once. */
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
      const mount = facts?.["mount"];
      const missed = (count: number) => void to.write(logLine(own, message, { mount, "times more": count }));
      if (limit.admits(`${own} ${String(mount)} ${message}`, missed)) to.write(line);
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
    .map(([name, value]) => `${name} ${visible(short(format(value), 200))}`);
  return `pressmark ${level}: ${visible(short(oneLine(message), 500))}${details.length > 0 ? ` (${details.join(", ")})` : ""}\n`;
}

/** Never throws: a source may log anything. */
function format(value: unknown): string {
  try {
    if (value instanceof Error) return JSON.stringify(String(value.message));
    return JSON.stringify(value) ?? String(value);
  } catch {
    return describe(value);
  }
}

function describe(value: unknown): string {
  try {
    return JSON.stringify(String(value));
  } catch {
    return `"a value that cannot be shown"`;
  }
}

function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are intended
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ");
}

/** Most lines are plain ASCII, which needs no slower look. */
function visible(text: string): string {
  return /^[ -~]*$/.test(text) ? text : visibleText(text);
}

function short(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}
