/** Ids of HTTP requests: the header X-Request-Id of a proxy or client, or else a new one. */
import { randomBytes } from "node:crypto";

export const requestIdHeader = "X-Request-Id";

/** Written to logs and sent back, so nothing that could be read as something else. */
const sane = /^[\w.~:+/=@-]{1,128}$/;

/** New ids differ between processes, and are in order within one. */
export function createRequestIds(): (given: string | string[] | undefined) => string {
  const start = `${randomBytes(6).toString("base64url")}-`;
  let count = 0;
  return (given) => (typeof given === "string" && sane.test(given) ? given : start + String((count += 1)));
}
