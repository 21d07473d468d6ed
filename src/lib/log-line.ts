/** One line of a log for people. */

/** Of limited length: names in the facts come from backends and callers. */
export function logLine(level: string, message: string, facts: Readonly<Record<string, unknown>> = {}): string {
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
