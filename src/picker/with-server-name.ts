/** Puts the person's name for this server into the texts and links that add it to a host. */
import type { HostWayView } from "./state-page-status.ts";

/** The name is a word of a command, a key of settings, or a member or parameter of a link. */
const place =
  /(?<= mcp add (?:--transport http )?)pressmark(?= )|(?<=")pressmark(?=":\{)|(?<=\?%7B%22name%22%3A%22)pressmark(?=%22)|(?<=\/install\?name=)pressmark(?=&)/;

/** The name may contain only letters, digits, dashes and underscores. */
export function withServerName(way: HostWayView, name: string): HostWayView {
  return {
    ...way,
    text: way.text.replace(place, name),
    links: way.links.map((link) => ({ ...link, url: link.url.replace(place, name) })),
  };
}
