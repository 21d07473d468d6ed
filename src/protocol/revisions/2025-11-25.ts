/** Adds icons, the server's description, and URLs and tools in requests for input. */
import type { Revision } from "../revision.ts";
import { revision20250618 } from "./2025-06-18.ts";

export const revision20251125: Revision = {
  ...revision20250618,
  date: "2025-11-25",
  has: { ...revision20250618.has, icons: true, inputParts: true },
};
