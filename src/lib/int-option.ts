/** A whole number between two bounds, as an option with a default. */
import type { z as Zod } from "zod";

export function intOption(z: typeof Zod, min: number, max: number, initial: number) {
  return z.int().min(min).max(max).default(initial);
}
