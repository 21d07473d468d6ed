/** Apart from the errors, which need the official client: a source is loaded before that package is known to be installed. */
export function isRemoteObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
