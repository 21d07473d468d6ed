/** How the names in one folder are judged. The same rules count for every way to ask for a name. */
import { toBytes } from "./ignore-pattern.ts";
import type { Bytes } from "./ignore-pattern.ts";
import { beginLayer, enterLayer, isSilent, judge, leadsThrough, rulesOf } from "./ignore-rules.ts";
import type { IgnoreRules, RuleLayer } from "./ignore-rules.ts";
import { foldName, isSecret, secretsIn } from "./secret-names.ts";

export interface RuleChoice {
  /** Whether ignore files count, and `node_modules` is left out. */
  readonly ignore: boolean;
  /** Whether all names that begin with a dot are served, not only those of `shownDotNames`. */
  readonly hidden: boolean;
  /** Patterns of what is served all the same. */
  readonly allow: readonly string[];
  /** Patterns of what is not served, whatever the ignore files say. */
  readonly exclude: readonly string[];
}

/** As what a name is served: 0 not at all, 1 if it is a file (or a link), 2 if it is a folder, 3 either way. */
export type Verdict = 0 | 1 | 2 | 3;

export const asFile = 1;
export const asFolder = 2;
const either = 3;

/** Which file of rules is stronger than which; the first is the strongest. */
export const ranks = { exclude: 0, pressmarkignore: 1, ignore: 2, gitignore: 3, repository: 4, person: 5 } as const;
export type Rank = (typeof ranks)[keyof typeof ranks];

export interface RankedRules {
  readonly rank: Rank;
  readonly rules: IgnoreRules;
}

/** The same object for the same rules. */
export interface NameRules {
  /** The strongest first, and of one rank that of the deepest folder. */
  readonly layers: readonly { readonly rank: Rank; readonly layer: RuleLayer }[];
  /** What is allowed, and the part of it that may speak of secrets. */
  readonly allow: { readonly all: RuleLayer; readonly named: RuleLayer } | undefined;
  /** False in a folder that is there only because something in it is allowed. */
  readonly isOpen: boolean;
  /** Whether the folder itself is allowed, and so what is in it. */
  readonly isAllowed: boolean;
  /** Names that are secret in this folder and nowhere else. */
  readonly secrets: ReadonlySet<string> | undefined;
}

export interface RuleBook {
  /** How the names of a folder are judged. */
  verdict(rules: NameRules, name: string): Verdict;
  /** The rules at the very top, before any folder. */
  readonly start: NameRules;
  /** The rules of the folder that is served: what was chosen for it counts from here on. */
  begin(rules: NameRules): NameRules;
  /** The rules in a folder of a folder, before its own ignore files. */
  enter(rules: NameRules, name: string): NameRules;
  /** The same on the way down to the folder that is served: it is asked for, whatever the rules say of it. */
  pass(rules: NameRules, name: string): NameRules;
  /** The rules with a folder's own ignore files. A repository begins anew: what git says above it does not count in it. */
  add(rules: NameRules, own: readonly RankedRules[], isRepository: boolean): NameRules;
}

const maxInterned = 2000;
const skipped = "node_modules";

/**
 * Dot-names that are served by default: written by people, to be read by everyone who works on the project, without credentials or state of
 * a machine. Ignore files are not among them, as they name what is hidden (docs/decisions/008-one-set-of-rules.md).
 */
const shownDotNames: ReadonlySet<string> = new Set([".github", ".editorconfig"]);

export function createRuleBook({ ignore, hidden, allow, exclude }: RuleChoice): RuleBook {
  const interned = new Map<string, NameRules>();
  const steady = new WeakMap<NameRules, boolean>();
  const allowed = allow.length === 0 ? undefined : { all: rulesOf(allow), named: rulesOf(allow.filter(maySaySecrets)) };
  const excluded = exclude.length === 0 ? undefined : rulesOf(exclude);

  /** Equal rules are one object, so that whoever keeps what came of them can tell whether it still holds. */
  function intern(rules: NameRules): NameRules {
    const layers = rules.layers.map(({ rank, layer }) => `${rank}:${layer.id}`).join(" ");
    const secrets = rules.secrets ? [...rules.secrets].join(" ") : "";
    const key = `${layers}|${rules.allow?.all.id}|${rules.allow?.named.id}|${rules.isOpen}|${rules.isAllowed}|${secrets}`;
    const known = interned.get(key);
    if (known) return known;
    if (interned.size >= maxInterned) interned.clear();
    interned.set(key, rules);
    return rules;
  }

  /** What the rules without exceptions say. */
  function usual(rules: NameRules, folded: string, bytes: Bytes): Verdict {
    if (!rules.isOpen || isSecret(folded, rules.secrets)) return 0;
    if (!hidden && folded.charCodeAt(0) === dot && !shownDotNames.has(folded)) return 0;
    if (ignore && folded === skipped) return 0;
    let served = 0;
    let open = either;
    for (const { layer } of rules.layers) {
      const { file, folder } = judge(layer, bytes);
      if (file && (open & asFile) !== 0) {
        open &= ~asFile;
        if (file.isNegated) served |= asFile;
      }
      if (folder && (open & asFolder) !== 0) {
        open &= ~asFolder;
        if (folder.isNegated) served |= asFolder;
      }
      if (open === 0) break;
    }
    return (served | open) as Verdict;
  }

  function exceptional({ allow: layers, isAllowed, secrets }: NameRules, folded: string, bytes: Bytes): Verdict {
    if (!layers) return 0;
    const isOfSecret = isSecret(folded, secrets);
    const { file, folder } = judge(isOfSecret ? layers.named : layers.all, bytes);
    const unlessSaid = isAllowed && !isOfSecret;
    let served = 0;
    if (file ? !file.isNegated : unlessSaid) served |= asFile;
    if (folder ? !folder.isNegated : unlessSaid) served |= asFolder;
    return served as Verdict;
  }

  /** Whether all is judged below as it is here, save in folders with a name of their own rules. */
  function isSteady({ layers, allow: exceptions, isOpen, secrets }: NameRules): boolean {
    return isOpen && !exceptions && !secrets && layers.every(({ layer }) => layer.standings.length === 0);
  }

  function descend(rules: NameRules, name: string, isAsked: boolean): NameRules {
    let isPlain = steady.get(rules);
    if (isPlain === undefined) steady.set(rules, (isPlain = isSteady(rules)));
    // What is not served is not entered, so that an open folder without exceptions is as open below.
    if (isPlain && /^[!-\-/-~]/.test(name)) return rules;
    const bytes = toBytes(name);
    const folded = foldName(name);
    const { allow: before } = rules;
    const layers = rules.layers
      .map(({ rank, layer }) => ({ rank, layer: enterLayer(layer, bytes) }))
      .filter(({ layer }) => !isSilent(layer));
    return intern({
      layers,
      allow: before && { all: enterLayer(before.all, bytes), named: enterLayer(before.named, bytes) },
      isOpen: isAsked || (usual(rules, folded, bytes) & asFolder) !== 0,
      isAllowed: (exceptional(rules, folded, bytes) & asFolder) !== 0,
      secrets: secretsIn(name),
    });
  }

  return {
    start: intern({ layers: [], allow: undefined, isOpen: true, isAllowed: false, secrets: undefined }),

    verdict(rules, name) {
      if (!isName(name)) return 0;
      const folded = foldName(name);
      if (folded === ".git") return 0;
      const bytes = rules.layers.length > 0 || rules.allow ? toBytes(name) : name;
      const served = usual(rules, folded, bytes);
      if (served === either || !rules.allow) return served;
      const onTheWay = leadsThrough(rules.allow.all, bytes) ? asFolder : 0;
      return (served | exceptional(rules, folded, bytes) | onTheWay) as Verdict;
    },

    begin(rules) {
      const layers = [...rules.layers];
      if (excluded) layers.unshift({ rank: ranks.exclude, layer: beginLayer(excluded) });
      const own = allowed && { all: beginLayer(allowed.all), named: beginLayer(allowed.named) };
      return intern({ ...rules, layers, allow: own });
    },

    enter: (rules, name) => descend(rules, name, false),
    pass: (rules, name) => descend(rules, name, true),

    add(rules, own, isRepository) {
      const kept = isRepository ? rules.layers.filter(({ rank }) => rank < ranks.gitignore) : rules.layers;
      const added = own.map(({ rank, rules: file }) => ({ rank, layer: beginLayer(file) }));
      // The sort is stable: a folder's own come before those from above.
      const layers = [...added.filter(({ layer }) => !isSilent(layer)), ...kept].sort((a, b) => a.rank - b.rank);
      return intern({ ...rules, layers });
    },
  };
}

/** Whether this is a name at all: no way leads through `.`, `..`, or what a system takes for more than a name. */
export function isName(name: string): boolean {
  if (name === "" || name === "." || name === ".." || name.includes("\0")) return false;
  return process.platform !== "win32" || !/[\\:]/.test(name);
}

/** A secret must be named as it is, and what takes back may do so in any way. */
function maySaySecrets(pattern: string): boolean {
  if (pattern.startsWith("!")) return true;
  const { names, anchored } = rulesOf([pattern]);
  return names.size > 0 || anchored.some(({ segments }) => segments.at(-1)?.kind === "literal");
}

const dot = 0x2e;
