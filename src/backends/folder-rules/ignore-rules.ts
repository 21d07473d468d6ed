/** The rules of one ignore file, and which segments of each rule the path to a folder has matched. */
import { endingOf, matches, parseRule, slownessOf, toBytes } from "./ignore-pattern.ts";
import type { Bytes, Rule, PatternSegment } from "./ignore-pattern.ts";

/** The parsed rules of one ignore file. */
export interface IgnoreRules {
  /** Rules for a name at any depth: by exact name, by extension, and those that must be tried. Each list has the last rule first. */
  readonly names: ReadonlyMap<Bytes, readonly Rule[]>;
  readonly endings: ReadonlyMap<Bytes, readonly Rule[]>;
  readonly globs: readonly Rule[];
  /** Rules for a path relative to the file's folder. */
  readonly anchored: readonly Rule[];
  /** Cache of the layers of this file, by their standings. */
  readonly layers: Map<string, RuleLayer>;
  /** Number of rules left out because there are too many, or because they take too long. */
  readonly leftOut: number;
}

/** The rules of an ignore file as they apply in one folder. */
export interface RuleLayer {
  /** Unique. */
  readonly id: number;
  readonly rules: IgnoreRules;
  /** Rules that matched the path to this folder, each with its next segment; then the same, indexed by that segment. */
  readonly standings: readonly Standing[];
  readonly byName: ReadonlyMap<Bytes, readonly Standing[]>;
  readonly byTrying: readonly Standing[];
}

interface Standing {
  readonly rule: Rule;
  readonly next: number;
}

/** The rule that applies to a name if it is a file, and if it is a folder. */
interface RuleMatch {
  readonly file: Rule | undefined;
  readonly folder: Rule | undefined;
}

/** More than any real file has; each name is compared with all rules that must be tried. */
const maxRules = 10_000;
const maxTried = 2000;
const maxSlowness = 16_384;
const maxInterned = 1000;

export function parseRules(text: Bytes): IgnoreRules {
  const lines = text.startsWith(byteOrderMark) ? text.slice(byteOrderMark.length).split("\n") : text.split("\n");
  return sort(lines.map((line) => endOfLine(line)));
}

/** Rules from a list of patterns. */
export function rulesOf(patterns: readonly string[]): IgnoreRules {
  return sort(patterns.map(toBytes));
}

const byteOrderMark = "\u00ef\u00bb\u00bf";

function endOfLine(line: Bytes): Bytes {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  const nul = text.indexOf("\0");
  return nul < 0 ? text : text.slice(0, nul);
}

function sort(lines: readonly Bytes[]): IgnoreRules {
  const names = new Map<Bytes, Rule[]>();
  const endings = new Map<Bytes, Rule[]>();
  const globs: Rule[] = [];
  const anchored: Rule[] = [];
  let count = 0;
  let tried = 0;
  let slowness = 0;
  let leftOut = 0;
  for (const [order, line] of lines.entries()) {
    const rule = parseRule(line, order);
    if (!rule) continue;
    const [first] = rule.segments;
    const ending = rule.isFloating && first ? endingOf(first) : undefined;
    const isTried = ending === undefined && rule.segments.some(({ kind }) => kind !== "literal");
    const isSlow = rule.segments.reduce((sum, segment) => sum + slownessOf(segment), 0);
    if (count >= maxRules || (isTried && (tried >= maxTried || slowness + isSlow > maxSlowness))) {
      leftOut += 1;
      continue;
    }
    count += 1;
    if (isTried) tried += 1;
    slowness += isSlow;
    if (!rule.isFloating) anchored.push(rule);
    else if (ending !== undefined) push(endings, ending, rule);
    else if (first?.kind === "literal") push(names, first.text, rule);
    else globs.push(rule);
  }
  globs.reverse();
  for (const rules of [...names.values(), ...endings.values()]) rules.reverse();
  return { names, endings, globs, anchored, layers: new Map(), leftOut };
}

function push<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** The layer of the file in its own folder. */
export function beginLayer(rules: IgnoreRules): RuleLayer {
  const standings: Standing[] = [];
  for (const rule of rules.anchored) reach(standings, standings.length, rule, 0);
  return layerOf(rules, standings);
}

/** Whether the file has no effect in this folder or below. */
export function isSilent({ rules, standings }: RuleLayer): boolean {
  return standings.length === 0 && rules.names.size === 0 && rules.endings.size === 0 && rules.globs.length === 0;
}

/** The layer of the file in a subfolder. */
export function enterLayer(layer: RuleLayer, name: Bytes): RuleLayer {
  if (layer.standings.length === 0) return layer;
  const standings: Standing[] = [];
  let from = 0;
  let last: Rule | undefined;
  for (const { rule, next } of standingsFor(layer, name)) {
    if (rule !== last) from = standings.length;
    last = rule;
    const segment = rule.segments[next] as PatternSegment;
    if (segment.kind === "deep") reach(standings, from, rule, next);
    else if (next + 1 < rule.segments.length && matches(segment, name)) reach(standings, from, rule, next + 1);
  }
  return layerOf(layer.rules, standings);
}

/** Whether a rule that is not negated names a path through a folder of this name. "**" does not count as naming it. */
export function leadsThrough(layer: RuleLayer, name: Bytes): boolean {
  for (const { rule, next } of standingsFor(layer, name)) {
    const segment = rule.segments[next] as PatternSegment;
    if (rule.isNegated || (next === 0 && segment.kind === "deep")) continue;
    if (segment.kind === "deep" || (next + 1 < rule.segments.length && matches(segment, name))) return true;
  }
  return false;
}

const found: { file: Rule | undefined; folder: Rule | undefined } = { file: undefined, folder: undefined };

/** The result object is reused by the next call. */
export function judge({ rules, byName, byTrying }: RuleLayer, name: Bytes): RuleMatch {
  forget();
  const named = rules.names.get(name);
  if (named) for (const rule of named) consider(rule);
  if (rules.endings.size > 0) {
    const dot = name.lastIndexOf(".");
    const ended = dot < 0 ? undefined : rules.endings.get(name.slice(dot));
    if (ended) for (const rule of ended) consider(rule);
  }
  for (const rule of rules.globs) {
    if (found.file && rule.order < found.file.order) break;
    if (matches(rule.segments[0] as PatternSegment, name)) consider(rule);
  }
  const standing = byName.get(name);
  if (standing) for (const { rule, next } of standing) if (next + 1 === rule.segments.length) consider(rule);
  for (const { rule, next } of byTrying)
    if (next + 1 === rule.segments.length && matches(rule.segments[next] as PatternSegment, name)) consider(rule);
  return found;
}

function forget(): void {
  found.file = undefined;
  found.folder = undefined;
}

function consider(rule: Rule): void {
  if (!found.folder || rule.order > found.folder.order) found.folder = rule;
  if (!rule.isFolderOnly && (!found.file || rule.order > found.file.order)) found.file = rule;
}

/** Records that a rule has reached this segment, unless recorded since `from`. "**" may match no folder. */
function reach(standings: Standing[], from: number, rule: Rule, next: number): void {
  for (let index = from; index < standings.length; index += 1) if (standings[index]?.next === next) return;
  standings.push({ rule, next });
  if (rule.segments[next]?.kind === "deep" && next + 1 < rule.segments.length) reach(standings, from, rule, next + 1);
}

let lastId = 0;

/** Returns the same layer for the same standings, unless the cache is full. */
function layerOf(rules: IgnoreRules, standings: readonly Standing[]): RuleLayer {
  if (standings.length > maxInterned) return createLayer(rules, standings);
  const key = standings.map(({ rule, next }) => `${rule.order}:${next}`).join(" ");
  const known = rules.layers.get(key);
  if (known) return known;
  const layer = createLayer(rules, standings);
  if (rules.layers.size >= maxInterned) rules.layers.clear();
  rules.layers.set(key, layer);
  return layer;
}

function createLayer(rules: IgnoreRules, standings: readonly Standing[]): RuleLayer {
  const byName = new Map<Bytes, Standing[]>();
  const byTrying: Standing[] = [];
  for (const standing of standings) {
    const segment = standing.rule.segments[standing.next] as PatternSegment;
    if (segment.kind === "literal") push(byName, segment.text, standing);
    else byTrying.push(standing);
  }
  lastId += 1;
  return { id: lastId, rules, standings, byName, byTrying };
}

/** The standings that may match a name, with those of one rule side by side. */
function standingsFor({ byName, byTrying }: RuleLayer, name: Bytes): readonly Standing[] {
  const named = byName.get(name);
  if (!named) return byTrying;
  return byTrying.length === 0 ? named : [...named, ...byTrying].sort((a, b) => a.rule.order - b.rule.order);
}
