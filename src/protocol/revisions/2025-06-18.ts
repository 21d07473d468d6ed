/** Adds titles, `_meta`, `lastModified`, resource links, elicitation, and the context of completions. */
import type { Revision } from "../revision.ts";
import { revision20250326 } from "./2025-03-26.ts";

export const revision20250618: Revision = {
  ...revision20250326,
  date: "2025-06-18",
  requests: new Set([...revision20250326.requests, "elicitation/create"]),
  has: { ...revision20250326.has, titles: true, completionContext: true },
  batches: false,
};
