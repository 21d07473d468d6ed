/** Converts row values to JSON, and key values to text and back. */
import type { SQLOutputValue } from "node:sqlite";

/** With its type, to distinguish 5 and "5". */
export interface KeyValue {
  readonly value: bigint | number | string | Uint8Array | null;
}

/** As JSON: large numbers as texts, bytes in base64. */
export function jsonSafe(value: SQLOutputValue): unknown {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString("base64") };
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  return typeof value === "string" ? value.toWellFormed() : value;
}

/** Whole numbers unchanged; everything else starts with its type. */
export function keyText(value: SQLOutputValue): string {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number") return `r:${value}`;
  if (typeof value === "string") return `t:${value}`;
  return value === null ? "n:" : `b:${Buffer.from(value).toString("base64url")}`;
}

const [least, greatest] = [-(2n ** 63n), 2n ** 63n - 1n];

/** Undefined for a text that is not a key value. */
export function parseKeyText(text: string): KeyValue | undefined {
  if (/^-?\d{1,19}$/.test(text)) {
    const value = BigInt(text);
    return value >= least && value <= greatest ? { value } : undefined;
  }
  const rest = text.slice(2);
  switch (text.slice(0, 2)) {
    case "t:":
      return { value: rest };
    case "r:":
      return Number.isFinite(Number(rest)) && rest !== "" ? { value: Number(rest) } : undefined;
    case "b:":
      return { value: new Uint8Array(Buffer.from(rest, "base64url")) };
    case "n:":
      return rest === "" ? { value: null } : undefined;
    default:
      return undefined;
  }
}
