/** Refuses what a program without types may write by mistake: names the value, its kind and what to write. */
import { invalid, quote } from "../errors.ts";
import { nearest } from "../lib/nearest.ts";

/** The kind of a value, for a message: "a number", "an object (Map)". */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "string") return "a text";
  if (Array.isArray(value)) return "a list";
  if (typeof value !== "object") return `a ${typeof value}`;
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name;
  return typeof name === "string" && name !== "" && name !== "Object" ? `an object (${name})` : "an object";
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Throws unless it is an object with members of these names only. */
export function checkMembers(value: unknown, what: string, known: readonly string[], write: string): void {
  checkRecord(value, what, write);
  for (const name of Object.keys(value)) {
    if (known.includes(name)) continue;
    const meant = nearest(name, known);
    const hint = meant === undefined ? `use ${known.join(", ")}` : `did you mean ${quote(meant)}?`;
    throw invalid(`${quote(name)} is unknown in ${what}; ${hint}`);
  }
}

export function checkRecord(
  value: unknown,
  what: string,
  write: string,
): asserts value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw wrongKind(what, value, write);
}

export function checkFunction(value: unknown, what: string, write: string): void {
  if (typeof value !== "function") throw wrongKind(what, value, write);
}

/** Undefined is allowed. */
export function checkText(value: unknown, what: string): void {
  if (value !== undefined && typeof value !== "string") throw wrongKind(what, value, "a text");
}

export function wrongKind(what: string, value: unknown, write: string): Error {
  return invalid(`${what} is ${value === undefined ? "missing" : kindOf(value)}; write ${write}`);
}
