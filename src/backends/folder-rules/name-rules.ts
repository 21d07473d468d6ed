/** Decides which names in one folder are served. The same rules apply to every method that accesses a name. */
import { toBytes } from "./ignore-pattern.ts";
import type { Bytes } from "./ignore-pattern.ts";
import { beginLayer, enterLayer, isSilent, judge, leadsThrough, rulesOf } from "./ignore-rules.ts";
import type { IgnoreRules, RuleLayer } from "./ignore-rules.ts";
import { foldName, isSecret, secretsIn } from "./secret-names.ts";

export interface RuleChoice {
  /** Whether ignore files apply, and `node_modules` is left out. */
  readonly ignore: boolean;
  /** Whether all names that begin with a dot are served, not only those in `shownDotNames`. */
  readonly hidden: boolean;
  /** Patterns of names that are served despite other rules. */
  readonly allow: readonly string[];
  /** Patterns of names that are not served, regardless of the ignore files. */
  readonly exclude: readonly string[];
}

/** How a name is served: 0 not at all, 1 as a file or link, 2 as a folder, 3 as either. */
export type Verdict = 0 | 1 | 2 | 3;

export const asFile = 1;
export const asFolder = 2;
const either = 3;

/** Precedence of the rule files, strongest first. */
export const ranks = { exclude: 0, pressmarkignore: 1, ignore: 2, gitignore: 3, repository: 4, person: 5 } as const;
export type Rank = (typeof ranks)[keyof typeof ranks];

export interface RankedRules {
  readonly rank: Rank;
  readonly rules: IgnoreRules;
}

/** The same object for the same rules. */
export interface NameRules {
  /** Strongest first; within one rank, deepest folder first. */
  readonly layers: readonly { readonly rank: Rank; readonly layer: RuleLayer }[];
  /** The allow patterns, and those of them that may match secrets. */
  readonly allow: { readonly all: RuleLayer; readonly named: RuleLayer } | undefined;
  /** False in a folder that is served only because something below it is allowed. */
  readonly isOpen: boolean;
  /** Whether the folder itself is allowed, and therefore its contents. */
  readonly isAllowed: boolean;
  /** Names that are secret only in this folder. */
  readonly secrets: ReadonlySet<string> | undefined;
}

const maxInterned = 2000;
const skipped = "node_modules";

/**
 * Dot-names that are served by default: written by people for everyone who works on the project, without credentials or machine state.
 * Ignore files are not among them, because they name what is hidden (docs/decisions/009-one-set-of-rules.md).
 */
const shownDotNames: ReadonlySet<string> = new Set([".github", ".editorconfig"]);

export function createRuleBook({ ignore, hidden, allow, exclude }: RuleChoice) {
  const interned = new Map<string, NameRules>();
  const steady = new WeakMap<NameRules, boolean>();
  const allowed = allow.length === 0 ? undefined : { all: rulesOf(allow), named: rulesOf(allow.filter(maySaySecrets)) };
  const excluded = exclude.length === 0 ? undefined : rulesOf(exclude);

  /** Equal rules are one object, so that callers can compare them by identity. */
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

  /** The verdict without the allow patterns. */
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
    const otherwise = isAllowed && !isOfSecret;
    let served = 0;
    if (file ? !file.isNegated : otherwise) served |= asFile;
    if (folder ? !folder.isNegated : otherwise) served |= asFolder;
    return served as Verdict;
  }

  /** Whether the rules below are the same as here, except in folders that rules name explicitly. */
  function isSteady({ layers, allow: exceptions, isOpen, secrets }: NameRules): boolean {
    return isOpen && !exceptions && !secrets && layers.every(({ layer }) => layer.standings.length === 0);
  }

  function descend(rules: NameRules, name: string, isAsked: boolean): NameRules {
    let isPlain = steady.get(rules);
    if (isPlain === undefined) steady.set(rules, (isPlain = isSteady(rules)));
    // Folders that are not served are not entered, so an open folder without exceptions has the same rules below.
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
    /** The rules at the top, before any folder. */
    start: intern({ layers: [], allow: undefined, isOpen: true, isAllowed: false, secrets: undefined }),

    /** How a name in a folder is served. */
    verdict(rules: NameRules, name: string): Verdict {
      if (!isName(name)) return 0;
      const folded = foldName(name);
      if (folded === ".git") return 0;
      const bytes = rules.layers.length > 0 || rules.allow ? toBytes(name) : name;
      const served = usual(rules, folded, bytes);
      if (served === either || !rules.allow) return served;
      const onTheWay = leadsThrough(rules.allow.all, bytes) ? asFolder : 0;
      return (served | exceptional(rules, folded, bytes) | onTheWay) as Verdict;
    },

    /** The rules of the root of the mount, where the options of the mount start to apply. */
    begin(rules: NameRules): NameRules {
      const layers = [...rules.layers];
      if (excluded) layers.unshift({ rank: ranks.exclude, layer: beginLayer(excluded) });
      const own = allowed && { all: beginLayer(allowed.all), named: beginLayer(allowed.named) };
      return intern({ ...rules, layers, allow: own });
    },

    /** The rules in a subfolder, without its own ignore files. */
    enter: (rules: NameRules, name: string) => descend(rules, name, false),
    /** Same as `enter` for a folder above the root of the mount: it is entered whatever the rules say. */
    pass: (rules: NameRules, name: string) => descend(rules, name, true),

    /** The rules with a folder's own ignore files. In a repository, git's rules from above it do not apply. */
    add(rules: NameRules, own: readonly RankedRules[], isRepository: boolean): NameRules {
      const inherited = isRepository ? rules.layers.filter(({ rank }) => rank < ranks.gitignore) : rules.layers;
      const added = own.map(({ rank, rules: file }) => ({ rank, layer: beginLayer(file) }));
      // The sort is stable: a folder's own rules come before those from above.
      const layers = [...added.filter(({ layer }) => !isSilent(layer)), ...inherited].sort((a, b) => a.rank - b.rank);
      return intern({ ...rules, layers });
    },
  };
}

/** Whether this is a valid name: not `.`, `..`, or text that a system would treat as a path or a device. */
export function isName(name: string, platform: NodeJS.Platform = process.platform): boolean {
  if (name === "" || name === "." || name === ".." || name.includes("\0")) return false;
  return platform !== "win32" || !(/[\\:]|[. ]$/.test(name) || device.test(name));
}

/** Windows opens a device under these names, in every folder and with any ending. */
const device = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d¹²³])(?:\.|$)/i;

/** A secret must be named literally; a negated pattern may use wildcards. */
function maySaySecrets(pattern: string): boolean {
  if (pattern.startsWith("!")) return true;
  const { names, anchored } = rulesOf([pattern]);
  return names.size > 0 || anchored.some(({ segments }) => segments.at(-1)?.kind === "literal");
}

const dot = 0x2e;
