/** Suggests fields of a hash. */
import type { RedisConnection } from "./connection.ts";
import { isKeyRefused, isWrongType } from "./errors.ts";
import { formatBytes } from "./key-paths.ts";

const fieldsPerScan = 1000;
const maxScans = 5;

/** In order; some of them if there are many. Empty for other values. */
export async function completeField(
  connection: Pick<RedisConnection, "send">,
  key: Buffer,
  start: string,
  limit: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const found = new Set<string>();
  let cursor = "0";
  for (let scans = 0; scans < maxScans && found.size < limit; scans += 1) {
    const reply = await connection
      .send(["HSCAN", key, cursor, "COUNT", fieldsPerScan], signal)
      .catch((cause: unknown) => {
        if (!isWrongType(cause) && !isKeyRefused(cause)) throw cause;
        return undefined;
      });
    if (reply === undefined) return [];
    const [next, pairs] = reply as readonly [Buffer, readonly Buffer[]];
    for (let at = 0; at < pairs.length; at += 2) {
      const field = formatBytes(pairs[at]!);
      if (field.startsWith(start)) found.add(field);
    }
    cursor = next.toString();
    if (cursor === "0") break;
  }
  return [...found].sort().slice(0, limit);
}
