/** Encodes a page of resources as JSON in pieces, so that little of a large page is in memory twice. */
import { createTimeSlices } from "../lib/time-slices.ts";
import type { Resource } from "../resources.ts";
import type { WireBytes } from "./protocol.ts";
import type { RevisionFeatures } from "./revision.ts";
import { wireResource } from "./shape.ts";

/** About fifty thousand characters per piece. */
const perPiece = 250;

/** `rest` holds the other members of the result. */
export async function encodePage(
  items: readonly Resource[],
  rest: Readonly<Record<string, unknown>>,
  has: RevisionFeatures,
): Promise<WireBytes> {
  const slice = createTimeSlices();
  const pieces: (string | Uint8Array)[] = [`{"resources":[`];
  for (let from = 0; from < items.length; from += perPiece) {
    const some = items.slice(from, from + perPiece).map((resource) => wireResource(resource, has));
    // Without brackets, which enclose all pieces.
    const text = `${from > 0 ? "," : ""}${JSON.stringify(some).slice(1, -1)}`;
    await slice();
    pieces.push(items.length > perPiece ? Buffer.from(text) : text);
  }
  const others = JSON.stringify(rest);
  pieces.push(others === "{}" ? "]}" : `],${others.slice(1)}`);
  return pieces;
}
