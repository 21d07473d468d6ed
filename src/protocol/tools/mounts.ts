/** The mounts of a house as a model is told of them, and where a URI stands in them. */

export interface NamedMount {
  readonly name: string;
  /** What all its URIs begin with. */
  readonly base: string;
}

/** `file:///a/` is the base of `file:///a`; a base without any name in it is its own root. */
export function rootOf(base: string): string {
  return /^[^:]+:\/*$/.test(base) ? base : base.replace(/\/$/, "");
}

/** A name as it may stand in a sentence: whole, on one line, and showing what it is. */
export function sayName(name: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  return `"${name.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]+/gu, " ").replaceAll('"', "'")}"`;
}

/** As many as fit into so many characters, none of them cut. */
export function nameMounts(mounts: readonly NamedMount[], maxLength: number): string {
  const said: string[] = [];
  let left = maxLength;
  for (const { name, base } of mounts) {
    const named = sayName(name);
    const fitting = [`${named} (${rootOf(base)})`, named].find((text) => text.length + 2 <= left);
    if (fitting === undefined) break;
    said.push(fitting);
    left -= fitting.length + 2;
  }
  const more = mounts.length - said.length;
  if (said.length === 0) return more === 1 ? "one mount" : `${more} mounts`;
  return more > 0 ? `${said.join(", ")} and ${more} more` : said.join(", ");
}

/** The path of a URI within its mount, decoded; undefined where it has none that could be written as one. */
export function pathBelowMount(mounts: readonly NamedMount[], uri: string): string | undefined {
  const whole = decodePath(uri);
  if (whole === undefined) return undefined;
  for (const { base } of mounts) {
    const start = decodePath(base);
    if (start !== undefined && whole.startsWith(start)) return whole.slice(start.length);
  }
  return undefined;
}

/** Segment by segment; undefined for what has a query, and for what has a slash within a segment. */
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
