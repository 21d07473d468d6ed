/** URI prefixes of mounts. */

export const schemePattern = /^[a-z][a-z0-9+.-]*$/;

/** A mount's name; it becomes a part of its URIs. */
export const mountNamePattern = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u;

/** The URI prefix of a mount under a scheme. */
export function mountBase(scheme: string, name: string): string {
  return `${scheme}://${encodeURIComponent(name)}/`;
}
