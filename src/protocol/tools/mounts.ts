/** Describes mounts to a model, and finds the path of a URI in them. */
import { onOneLine } from "../../lib/on-one-line.ts";
import type { Annotations } from "../../resources.ts";
import type { Source } from "../../source.ts";

export interface NamedMount {
  readonly name: string;
  /** Shown instead of the name. */
  readonly title?: string;
  readonly description?: string;
  /** Description of its source, if it has none of its own. */
  readonly summary?: string;
  /** From 0 to 1. Default: 0.5. */
  readonly priority?: number;
  readonly audience?: Annotations["audience"];
  /** Prefix of all its URIs. */
  readonly base: string;
  /** Tells whether its list has an order. */
  readonly source?: Pick<Source, "isUnordered">;
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

const usualPriority = 0.5;
/** Longest description of a mount, in characters. */
const maxDescription = 160;

/** The highest priority first; equal ones keep their order. */
export function byPriority<M extends Pick<NamedMount, "priority">>(mounts: readonly M[]): readonly M[] {
  return mounts.toSorted((one, other) => (other.priority ?? usualPriority) - (one.priority ?? usualPriority));
}

/** As many names as fit, none of them cut. */
export function nameMounts(mounts: readonly NamedMount[], maxLength: number): string {
  const { names } = fitNames(byPriority(mounts), maxLength);
  return joined(names, ", ", mounts.length);
}

/** The same with as many descriptions as fit: first those of mounts, then those of their sources. */
export function describeMounts(mounts: readonly NamedMount[], maxLength: number): string {
  const inOrder = byPriority(mounts);
  const { names, left } = fitNames(inOrder, maxLength);
  const described = [...names];
  let room = left;
  for (const key of ["description", "summary"] as const)
    for (const [at, name] of names.entries()) {
      const text = described[at] === name ? inOrder[at]![key] : undefined;
      if (text === undefined) continue;
      const more = `: ${sayName(cut(onOneLine(text)))}`;
      if (more.length > room) continue;
      described[at] += more;
      room -= more.length;
    }
  return joined(described, "; ", mounts.length);
}

function fitNames(mounts: readonly NamedMount[], maxLength: number) {
  const names: string[] = [];
  let left = maxLength;
  for (const { name, title = name, base } of mounts) {
    const named = sayName(title);
    const fitting = [`${named} (${rootOf(base)})`, named].find((text) => text.length + 2 <= left);
    if (fitting === undefined) break;
    names.push(fitting);
    left -= fitting.length + 2;
  }
  return { names, left };
}

function joined(names: readonly string[], separator: string, count: number): string {
  const more = count - names.length;
  if (names.length === 0) return more === 1 ? "one mount" : `${more} mounts`;
  return more > 0 ? `${names.join(separator)} and ${more} more` : names.join(separator);
}

function cut(text: string): string {
  const characters = [...text];
  return characters.length <= maxDescription ? text : `${characters.slice(0, maxDescription - 1).join("")}…`;
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
