/** The lines of a search hit as a resource, or its resource if these lines cannot be requested. */
import type { Hit, Resource } from "../resources.ts";
import { passageOf } from "./tray.ts";

export function passageOfHit({ resource, lines }: Hit): Resource {
  const forms = resource.meta?.["pressmark/as"];
  // The text that was searched is then the summary, which has other lines than the text.
  const isSummary = Array.isArray(forms) && forms.includes("summary");
  return lines && !isSummary ? passageOf(resource, lines) : resource;
}
