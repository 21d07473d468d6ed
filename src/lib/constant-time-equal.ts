/** Compares a text with a secret in constant time. */
import { createHash, timingSafeEqual } from "node:crypto";

export function constantTimeEqual(given: unknown, secret: string): boolean {
  return typeof given === "string" && timingSafeEqual(digestOf(given), digestOf(secret));
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
