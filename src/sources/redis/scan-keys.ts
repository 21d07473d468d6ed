/** One SCAN of the keys of a database. */
import { invalid } from "../../errors.ts";
import type { RedisConnection } from "./connection.ts";

export interface ScanStep {
  /** Some may occur twice. */
  readonly keys: readonly Buffer[];
  /** Undefined at the end. */
  readonly next: string | undefined;
}

/** How many keys one SCAN looks at. More would delay other clients of the server. */
export const keysPerScan = 1000;

/** Keys that start with these bytes, among about `count` keys. */
export async function scanKeys(
  connection: Pick<RedisConnection, "send">,
  { cursor, prefix, count = keysPerScan }: { cursor: string; prefix: Buffer; count?: number },
  signal: AbortSignal,
): Promise<ScanStep> {
  const match = prefix.length === 0 ? [] : ["MATCH", Buffer.concat([escapeGlob(prefix), Buffer.from("*")])];
  const reply = await connection.send(["SCAN", cursor, ...match, "COUNT", count], signal);
  const [next, keys] = reply as [Buffer, Buffer[]];
  const following = next.toString();
  return { keys, next: following === "0" ? undefined : following };
}

export function checkCursor(cursor = "0"): string {
  if (!isUint64(cursor)) throw invalid("the cursor is not one of this mount; begin without one");
  return cursor;
}

/** Whether the server can read it as a number of 64 bits. */
export function isUint64(text: string): boolean {
  return /^\d{1,20}$/.test(text) && BigInt(text) < 2n ** 64n;
}

/** Bytes that mean themselves in a pattern. */
function escapeGlob(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString("latin1").replace(/[*?[\]\\^-]/g, "\\$&"), "latin1");
}
