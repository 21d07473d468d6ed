/** URI prefixes of mounts. */

export const schemePattern = /^[a-z][a-z0-9+.-]*$/;

/** A mount's name; it becomes a part of its URIs. */
export const mountNamePattern = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u;

/** The URI prefix of a mount under a scheme. */
export function mountBase(scheme: string, name: string): string {
  return `${scheme}://${encodeURIComponent(name)}/`;
}

/** Schemes that Pressmark, a host or a browser interprets in a special way. */
export const takenSchemes: ReadonlySet<unknown> = new Set(["pressmark", "set", "ui", "zed", "http", "https"]);

/** Schemes that a custom source cannot answer for: those, and what belongs to this machine or to a page. */
export const reservedSchemes: ReadonlySet<unknown> = new Set([
  ...takenSchemes,
  "sets",
  "file",
  "data",
  "blob",
  "about",
  "javascript",
  "mailto",
  "urn",
  "ws",
  "wss",
]);
