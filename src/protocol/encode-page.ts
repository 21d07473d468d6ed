/** A page of resources as JSON text, in pieces: of a large one, little is held at once as objects and as text. */
import { createTimeSlices } from "../lib/time-slices.ts";
import type { Resource } from "../resources.ts";
import type { WireBytes } from "./protocol.ts";
import type { RevisionFeatures } from "./revision.ts";
import { wireResource } from "./shape.ts";

/** Some fifty thousand characters each. */
const perPiece = 250;

/** `rest` is what else the result says. */
export async function encodePage(
  items: readonly Resource[],
  rest: Readonly<Record<string, unknown>>,
  has: RevisionFeatures,
): Promise<WireBytes> {
  const slice = createTimeSlices();
  const pieces: (string | Uint8Array)[] = [`{"resources":[`];
  for (let from = 0; from < items.length; from += perPiece) {
    const some = items.slice(from, from + perPiece).map((resource) => wireResource(resource, has));
    // Without the brackets, which go around all of them.
    const text = `${from > 0 ? "," : ""}${JSON.stringify(some).slice(1, -1)}`;
    await slice();
    pieces.push(items.length > perPiece ? Buffer.from(text) : text);
  }
  const said = JSON.stringify(rest);
  pieces.push(said === "{}" ? "]}" : `],${said.slice(1)}`);
  return pieces;
}
