/** The real world, as sources and layers may touch it. */
import type { Writable } from "node:stream";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import { wait } from "../lib/wait.ts";
import type { Runtime } from "../source.ts";
import { createLineLimit } from "./line-limit.ts";

type Level = Parameters<Runtime["log"]>[0];

const weight = { info: 0, warn: 1, error: 2 } as const;

/** What is below `level` is not said, and what a mount says again and again only some times a minute. */
export function createRuntime(to: Pick<Writable, "write">, level: Level = "warn"): Runtime {
  const limit = createLineLimit();
  return {
    now: Date.now,
    monotonicMs,
    wait,
    log(said, message, facts) {
      if (weight[said] < weight[level]) return;
      const mount = facts?.["mount"];
      const missed = (count: number) => void to.write(logLine(said, message, { mount, "times more": count }));
      if (limit.admits(`${said} ${String(mount)} ${message}`, missed)) to.write(logLine(said, message, facts));
    },
  };
}

/** The level that the person who runs the house asked for. */
export function logLevel(env: Readonly<Record<string, string | undefined>>): Level {
  const asked = env["PRESSMARK_LOG"];
  return asked === "info" || asked === "warn" || asked === "error" ? asked : "warn";
}

/** One line whatever the facts hold, and never a long one: names in them come from backends and callers. */
export function logLine(level: Level, message: string, facts: Readonly<Record<string, unknown>> = {}): string {
  const said = Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${short(format(value), 200)}`);
  return `pressmark ${level}: ${short(oneLine(message), 500)}${said.length > 0 ? ` (${said.join(", ")})` : ""}\n`;
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
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ");
}

function short(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}
