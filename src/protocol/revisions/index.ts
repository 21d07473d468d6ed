/** All revisions, newest first. */
import type { Revision } from "../revision.ts";
import { revision20241007 } from "./2024-10-07.ts";
import { revision20241105 } from "./2024-11-05.ts";
import { revision20250326 } from "./2025-03-26.ts";
import { revision20250618 } from "./2025-06-18.ts";
import { revision20251125 } from "./2025-11-25.ts";
import { revision20260728 } from "./2026-07-28.ts";

/** Revisions whose requests describe themselves. */
export const modernRevisions: readonly Revision[] = [revision20260728];

/** Revisions that begin with `initialize`; the first is offered to a client that requests an unknown one. */
export const legacyRevisions: readonly [Revision, ...Revision[]] = [
  revision20251125,
  revision20250618,
  revision20250326,
  revision20241105,
  revision20241007,
];

export const allRevisions: readonly Revision[] = [...modernRevisions, ...legacyRevisions];
