/** Whether a word is the secret one, in a time that says nothing of how much of it was right. */
import { createHash, timingSafeEqual } from "node:crypto";

export function constantTimeEqual(said: unknown, secret: string): boolean {
  return typeof said === "string" && timingSafeEqual(digestOf(said), digestOf(secret));
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
