/** One line of a log, for people or for programs. */
import { visibleText } from "./visible-text.ts";

/** Of limited length: names in the facts come from backends and callers. */
export function logLine(level: string, message: string, facts: Readonly<Record<string, unknown>> = {}): string {
  const details = Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${visible(short(format(value), 200))}`);
  return `pressmark ${level}: ${visible(short(oneLine(message), 500))}${details.length > 0 ? ` (${details.join(", ")})` : ""}\n`;
}

/** As JSON: `time`, `level`, `message`, `requestId` and `traceId` if there are any, and the other facts as text, number or truth value. */
export function jsonLogLine(
  level: string,
  message: string,
  facts: Readonly<Record<string, unknown>> = {},
  { timeMs, requestId, traceId }: JsonLogContext,
): string {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined);
  return `${JSON.stringify({
    time: new Date(timeMs).toISOString(),
    level,
    message: short(message, 500),
    requestId,
    traceId,
    ...(known.length > 0 && { facts: Object.fromEntries(known.map(([name, value]) => [name, plainValue(value)])) }),
  })}\n`;
}

interface JsonLogContext {
  readonly timeMs: number;
  readonly requestId?: string | undefined;
  readonly traceId?: string | undefined;
}

function plainValue(value: unknown): string | number | boolean | null {
  if (typeof value === "number" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "string") return short(value, 200);
  const text = format(value);
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === "string") return short(parsed, 200);
  } catch {
    // Shown as it is.
  }
  return short(text, 200);
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

/** Most lines are plain ASCII, which needs no slower look. */
function visible(text: string): string {
  return /^[ -~]*$/.test(text) ? text : visibleText(text);
}

function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are intended
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ");
}

function short(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}
