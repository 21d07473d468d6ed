/** The lines of a search hit as a resource, or its resource if these lines cannot be requested. */
import { hitUri } from "../lib/passage-uri.ts";
import type { Hit, Resource } from "../resources.ts";

export function passageOfHit(hit: Hit): Resource {
  const { size: _, ...rest } = hit.resource;
  const uri = hitUri(hit);
  return uri === rest.uri ? hit.resource : { ...rest, uri };
}
