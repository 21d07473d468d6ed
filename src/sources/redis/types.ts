/** The types of values, and what is said about each in a list. */
import type { ReadCommand } from "./connection.ts";

export type RedisType = "string" | "hash" | "list" | "set" | "zset" | "stream";

/** The length of a value, in constant time. */
export const lengthCommands: Readonly<Record<RedisType, ReadCommand>> = {
  string: "STRLEN",
  hash: "HLEN",
  list: "LLEN",
  set: "SCARD",
  zset: "ZCARD",
  stream: "XLEN",
};

const words: Readonly<Record<RedisType, readonly [string, string]>> = {
  string: ["String", "byte"],
  hash: ["Hash", "field"],
  list: ["List", "item"],
  set: ["Set", "member"],
  zset: ["Sorted set", "member"],
  stream: ["Stream", "entry"],
};

/** Undefined for types of modules, and for "none". */
export function toRedisType(name: string): RedisType | undefined {
  return Object.hasOwn(lengthCommands, name) ? (name as RedisType) : undefined;
}

/** `Hash, 3 fields` */
export function describeValue(type: RedisType, length: number): string {
  const [what, unit] = words[type];
  const units = unit === "entry" ? "entries" : `${unit}s`;
  return `${what}, ${length} ${length === 1 ? unit : units}`;
}
