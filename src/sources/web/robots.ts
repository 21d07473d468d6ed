/** Parses robots.txt (RFC 9309). */
import { cutAt } from "../../lib/cut-at.ts";

export interface Robots {
  /** Whether a path with its query may be read. */
  allows(path: string): boolean;
  /** The time that the site wants between two requests of a crawl; 0 if it does not say. */
  readonly crawlDelayMs: number;
}

interface Rule {
  readonly allows: boolean;
  readonly pattern: string;
}

interface Group {
  readonly rules: Rule[];
  delaySeconds: number;
}

/** Further rules are ignored. */
const maxRules = 5000;
const maxPattern = 2000;

/** The rules for a program of this name, else those for all programs. */
export function parseRobots(text: string, name: string): Robots {
  /** By program, each group that names it; programs named together share it. */
  const groups = new Map<string, Group[]>();
  let current: Group = { rules: [], delaySeconds: 0 };
  let isNaming = false;
  let count = 0;
  for (const line of text.split(/\r\n?|\n/)) {
    const content = cutAt(line, /#/).trim();
    const colon = content.indexOf(":");
    if (colon < 0) continue;
    const key = content.slice(0, colon).trim().toLowerCase();
    const value = content.slice(colon + 1).trim();
    if (key === "user-agent") {
      if (!isNaming) current = { rules: [], delaySeconds: 0 };
      isNaming = true;
      const agent = value.toLowerCase();
      const known = groups.get(agent);
      if (!known) groups.set(agent, [current]);
      else if (known.at(-1) !== current) known.push(current);
    } else if (key === "allow" || key === "disallow") {
      isNaming = false;
      // An empty rule has no effect.
      if (value === "" || value.length > maxPattern || (count += 1) > maxRules) continue;
      current.rules.push({ allows: key === "allow", pattern: normal(value) });
    } else if (key === "crawl-delay") {
      isNaming = false;
      const seconds = Number(value);
      if (seconds > current.delaySeconds) current.delaySeconds = seconds;
    }
  }
  const own = groups.get(name.toLowerCase()) ?? groups.get("*") ?? [];
  const rules = own.flatMap((group) => group.rules);
  const allows = (path: string): boolean => {
    const normalized = normal(path);
    let best: Rule | undefined;
    for (const rule of rules) {
      if (!matches(rule.pattern, normalized)) continue;
      const isLonger = !best || rule.pattern.length > best.pattern.length;
      if (isLonger || (rule.allows && rule.pattern.length === best?.pattern.length)) best = rule;
    }
    return best?.allows ?? true;
  };
  return { allows, crawlDelayMs: 1000 * Math.max(0, ...own.map(({ delaySeconds }) => delaySeconds)) };
}

/** Normalizes escapes, so that `%7E` equals `~`. */
function normal(path: string): string {
  return path.replaceAll(/%[0-9a-f]{2}/gi, (escape) => {
    const code = Number.parseInt(escape.slice(1), 16);
    const character = String.fromCharCode(code);
    return code < 0x80 && /[\w.~-]/.test(character) ? character : escape.toUpperCase();
  });
}

/** The first occurrence of a piece, in linear time, because patterns and paths are untrusted (Knuth–Morris–Pratt). */
function indexIn(text: string, piece: string, from: number): number {
  /** For each length, the longest prefix that is also a suffix of the matched part. */
  const still = new Uint16Array(piece.length + 1);
  for (let at = 1, matched = 0; at < piece.length; at += 1) {
    while (matched > 0 && piece.charCodeAt(at) !== piece.charCodeAt(matched)) matched = still[matched]!;
    if (piece.charCodeAt(at) === piece.charCodeAt(matched)) matched += 1;
    still[at + 1] = matched;
  }
  let matched = 0;
  for (let at = from; at < text.length && matched < piece.length; at += 1) {
    while (matched > 0 && text.charCodeAt(at) !== piece.charCodeAt(matched)) matched = still[matched]!;
    if (text.charCodeAt(at) === piece.charCodeAt(matched)) matched += 1;
    if (matched === piece.length) return at + 1 - matched;
  }
  return piece === "" ? from : -1;
}

/** `*` matches anything and `$` at the end matches the end; without backtracking. */
function matches(pattern: string, path: string): boolean {
  const isWhole = pattern.endsWith("$");
  const pieces = (isWhole ? pattern.slice(0, -1) : pattern).split("*");
  const [first = "", ...rest] = pieces;
  if (!path.startsWith(first)) return false;
  let at = first.length;
  for (const [index, piece] of rest.entries()) {
    const isLast = index === rest.length - 1;
    if (isLast && isWhole) return path.length - piece.length >= at && path.endsWith(piece);
    const found = indexIn(path, piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return !isWhole || at === path.length;
}
