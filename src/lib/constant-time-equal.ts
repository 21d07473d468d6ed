/** Compares a text with a secret in constant time. */
import { createHash, timingSafeEqual } from "node:crypto";

export function constantTimeEqual(said: unknown, secret: string): boolean {
  return typeof said === "string" && timingSafeEqual(digestOf(said), digestOf(secret));
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
