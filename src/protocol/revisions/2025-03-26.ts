/** Adds batches (only in this revision), audio, the `completions` capability, and messages of progress. */
import type { Revision } from "../revision.ts";
import { revision20241105 } from "./2024-11-05.ts";

export const revision20250326: Revision = {
  ...revision20241105,
  date: "2025-03-26",
  has: { ...revision20241105.has, audio: true },
  // https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
  batches: true,
};
