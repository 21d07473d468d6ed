/** Paths of a system with another separator, written with slashes. */
import { sep } from "node:path";

/** Windows accepts both in its own paths; in names of other systems a backslash is an ordinary character. */
export function withSlashes(path: string, separator: string = sep): string {
  return separator === "/" ? path : path.replaceAll(separator, "/");
}
