/** Tells whether two trays choose the same, however far they are counted. */
import type { Tray } from "./tray.ts";

export function choiceKey(tray: Tray): string {
  return JSON.stringify(tray.map(({ resource, except = [] }) => [resource.uri, ...except.toSorted()]));
}
