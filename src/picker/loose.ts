/** Reads JSON that another server sent: what is missing or of another type is left out or becomes empty. */

export type Loose = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function recordOf(value: unknown): Loose {
  return isRecord(value) ? value : {};
}

export function recordsIn(value: unknown): readonly Loose[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function optionalText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function numberOf(value: unknown): number {
  return optionalNumber(value) ?? 0;
}

export function optionalNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
