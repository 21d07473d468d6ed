/** Describes what a program of someone else has thrown, which may be anything. */

/** The first line of its message, shortened. Never throws. */
export function describeThrown(cause: unknown): string {
  try {
    const [line = ""] = String(cause instanceof Error ? cause.message : cause).split("\n", 1);
    return line.slice(0, 300);
  } catch {
    return "it threw a value that cannot be shown";
  }
}
