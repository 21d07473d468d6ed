/** What a host may tell its model of this house. */

export function instructions(mounts: readonly { readonly name: string; readonly base: string }[]): string {
  const served = mounts.slice(0, 20).map(({ name, base }) => `${name} (${base})`);
  if (mounts.length > served.length) served.push(`${mounts.length - served.length} more`);
  return [
    `This server gives read access to files as resources: ${served.join(", ")}.`,
    "resources/list names every file, page by page; reading the URI of a folder names what is in it.",
    "resources/read takes any of these URIs, and any path that fits a template of resources/templates/list.",
    "Subscribe to a URI to hear when it changes.",
  ].join(" ");
}
