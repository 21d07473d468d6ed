/** A parser or matcher of untrusted text, for the tests of how its time grows. */
import type { Attack } from "./attacks.ts";

export interface Parser {
  readonly name: string;
  /** Pieces that its input is made of. */
  readonly tokens: readonly string[];
  /** The longest text that it is given at once. */
  readonly maxLength: number;
  /** Whether it runs in a thread with a deadline: then only its growth matters. */
  readonly inThread?: boolean;
  /** Whether its input is cut so short that only the time for it matters. */
  readonly isShort?: boolean;
  /** May refuse the text: to throw is an answer. */
  run(text: string): unknown;
  /** Attacks that once were slow. */
  readonly kept?: readonly Partial<Attack>[];
}

export const kib = 1024;

/** Paths to match with patterns. */
export const names = Array.from(
  { length: 250 },
  (_, index) => `src/${"ab".repeat(index % 60)}/aaaa-${index}/aaaaaaaa.test.ts`,
);
