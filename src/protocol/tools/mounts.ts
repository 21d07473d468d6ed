/** Describes mounts to a model, and finds the path of a URI in them. */

export interface NamedMount {
  readonly name: string;
  /** Prefix of all its URIs. */
  readonly base: string;
}

/** The root of the base `file:///a/` is `file:///a`; a base without a path is its own root. */
export function rootOf(base: string): string {
  return /^[^:]+:\/*$/.test(base) ? base : base.replace(/\/$/, "");
}

/** A trailing slash means the same directory, unless the mount's root ends with one. */
export function trimSlash(uri: string | undefined, mounts: readonly NamedMount[]): string | undefined {
  const trimmed = uri?.trim();
  if (trimmed === undefined || !trimmed.endsWith("/")) return trimmed;
  return mounts.some(({ base }) => rootOf(base) === trimmed) ? trimmed : trimmed.replace(/(?<!\/)\/+$/, "");
}

/** A name in quotes, on one line, without control characters. */
export function sayName(name: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are intended
  return `"${name.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]+/gu, " ").replaceAll('"', "'")}"`;
}

/** As many names as fit, none of them cut. */
export function nameMounts(mounts: readonly NamedMount[], maxLength: number): string {
  const names: string[] = [];
  let left = maxLength;
  for (const { name, base } of mounts) {
    const named = sayName(name);
    const fitting = [`${named} (${rootOf(base)})`, named].find((text) => text.length + 2 <= left);
    if (fitting === undefined) break;
    names.push(fitting);
    left -= fitting.length + 2;
  }
  const more = mounts.length - names.length;
  if (names.length === 0) return more === 1 ? "one mount" : `${more} mounts`;
  return more > 0 ? `${names.join(", ")} and ${more} more` : names.join(", ");
}

/** Decoded path of a URI within its mount; undefined if it cannot be written as a path. */
export function pathBelowMount(mounts: readonly NamedMount[], uri: string): string | undefined {
  const whole = decodePath(uri);
  if (whole === undefined) return undefined;
  for (const { base } of mounts) {
    const start = decodePath(base);
    if (start !== undefined && whole.startsWith(start)) return whole.slice(start.length);
  }
  return undefined;
}

/** Decodes each segment; undefined with a query, or a slash within a segment. */
export function decodePath(path: string): string | undefined {
  if (path.includes("?") || path.includes("#")) return undefined;
  if (!path.includes("%")) return path;
  try {
    const names = path.split("/").map(decodeURIComponent);
    return names.some((name) => name.includes("/")) ? undefined : names.join("/");
  } catch {
    return undefined;
  }
}
