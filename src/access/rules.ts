/** Access rules of a config, compiled once per caller: deny wins, and what no rule allows is private. */
import { createGlob, createGlobUnion, isGlob, type Glob } from "../lib/glob.ts";
import { withSlashes } from "../lib/with-slashes.ts";
import type { Caller } from "../resources.ts";
import type { ShownFiles, VisibleFiles } from "../source.ts";
import type { Policy } from "./policy.ts";
import { isMeant, type Subject } from "./subject.ts";

export interface AccessRule {
  readonly allow?: readonly Subject[];
  readonly deny?: readonly Subject[];
  /** Whether an `allow` also permits actions that change something. */
  readonly write?: boolean;
  /** Names of mounts. Default: all. */
  readonly mounts?: readonly string[];
  /** Patterns of paths in the mounts; each also covers everything below what it matches. Default: all. */
  readonly paths?: readonly string[];
  /** The same for files on this machine, as absolute paths: they hold in every mount over their folder. */
  readonly files?: readonly string[];
}

type RulesPolicy = Required<Policy>;

/** One rule, as it applies to paths or to files. */
interface CompiledRule {
  readonly index: number;
  /** Undefined covers everything. */
  readonly globs?: readonly Glob[];
  /** The patterns of the globs. */
  readonly patterns: readonly string[];
  /** Folders on the way to a pattern: without them its files cannot be reached. */
  readonly above: ReadonlySet<string>;
}

/** Facts that hold for all paths directly in a folder. */
interface FolderState {
  readonly denied?: CompiledRule;
  readonly allowed?: CompiledRule;
  /** Rules that decide by the name within the folder, and whether any of them may. */
  readonly deny: readonly CompiledRule[];
  readonly mayBeDenied: (path: string, nameAt: number) => boolean;
  readonly allow: readonly CompiledRule[];
  readonly mayBeAllowed: (path: string, nameAt: number) => boolean;
}

type JudgedFacts = Pick<ShownFiles, "isWhole" | "isFile">;

/** The first rule that denies a path, and the first that allows it. The path is below `folder`. */
interface Judge {
  denied(path: string, facts?: JudgedFacts, folder?: string): CompiledRule | undefined;
  allowed(path: string, facts?: JudgedFacts, folder?: string): CompiledRule | undefined;
}

/** Decisions about files, shared by all callers for whom the same rules apply. */
interface FileDecisions {
  readonly judge: Judge;
  /** Visible files of a mount that no rule about paths allows, and of one that such a rule allows. */
  readonly byFilesAlone: VisibleFiles;
  readonly unlessDenied: VisibleFiles | undefined;
}

interface CallerDecisions {
  /** By name of the mount. */
  readonly paths: Map<string, Judge>;
  readonly files: FileDecisions;
}

/** Folders whose state is stored per caller and mount; a page has a few. */
const maxFolders = 1000;
/** Combinations of rules about files whose decisions are stored. */
const maxCombinations = 1000;
const noFacts: JudgedFacts = {};
const whole: JudgedFacts = { isWhole: true };
const nothing: Judge = { denied: () => undefined, allowed: () => undefined };

/** Throws a GlobError for a pattern that cannot be used. */
export function createRulesPolicy(rules: readonly AccessRule[]): RulesPolicy {
  const compiled = rules.map((rule, index) => compile(rule, index));
  const ofFiles = compiled.filter(({ index }) => rules[index]!.files !== undefined);
  const ofPaths = compiled.filter(({ index }) => rules[index]!.files === undefined);
  const byCaller = new WeakMap<Caller, CallerDecisions>();

  const byCombination = new Map<string, FileDecisions>();

  function applying(among: readonly CompiledRule[], caller: Caller) {
    const having = (who: "allow" | "deny") =>
      among.filter(({ index }) => rules[index]![who]?.some((subject) => isMeant(subject, caller)));
    return [having("allow"), having("deny")] as const;
  }

  function fileDecisions(caller: Caller): FileDecisions {
    const [allow, deny] = applying(ofFiles, caller);
    const key = [allow, deny].map((some) => some.map(({ index }) => index).join()).join("/");
    let decisions = byCombination.get(key);
    if (!decisions) {
      if (byCombination.size >= maxCombinations) byCombination.clear();
      byCombination.set(key, (decisions = createFileDecisions(allow, deny)));
    }
    return decisions;
  }

  /** A page asks a thousand times for one caller. */
  let last: { readonly caller: Caller; readonly decisions: CallerDecisions } | undefined;

  function decisionsOf(caller: Caller): CallerDecisions {
    if (last?.caller === caller) return last.decisions;
    let decisions = byCaller.get(caller);
    if (!decisions) byCaller.set(caller, (decisions = { paths: new Map(), files: fileDecisions(caller) }));
    last = { caller, decisions };
    return decisions;
  }

  function pathsOf(caller: Caller, mount: string): Judge {
    const { paths } = decisionsOf(caller);
    let own = paths.get(mount);
    if (!own) {
      const ofMount = ofPaths.filter(({ index }) => rules[index]!.mounts?.includes(mount) ?? true);
      paths.set(mount, (own = createJudge(...applying(ofMount, caller))));
    }
    return own;
  }

  /** The first rule that denies or allows an address, by its path or by a file that it shows. */
  function ruleFor(
    verdict: keyof Judge,
    caller: Caller,
    mount: string,
    path: string,
    files: readonly ShownFiles[] = [],
  ): CompiledRule | undefined {
    const byPath = pathsOf(caller, mount)[verdict](path);
    if (byPath || ofFiles.length === 0) return byPath;
    const { judge } = decisionsOf(caller).files;
    for (const file of files) {
      const { folder = "", path: name } = file;
      // A source that filters decides about each file below by itself.
      const facts = file.isFiltered ? undefined : file;
      const found = judge[verdict](folder === "" ? slashed(name) : name, facts, folder);
      if (found) return found;
    }
    return undefined;
  }

  return {
    // A page asks about a thousand entries, so this does not build a decision for each.
    maySee: (caller, mount, { path }, files) =>
      caller.owner === true ||
      (ruleFor("denied", caller, mount, path, files) === undefined &&
        ruleFor("allowed", caller, mount, path, files) !== undefined),
    explain(caller, mount, { path }, files) {
      if (caller.owner) return { isAllowed: true };
      const denied = ruleFor("denied", caller, mount, path, files);
      const deciding = denied ?? ruleFor("allowed", caller, mount, path, files);
      return { isAllowed: !denied && deciding !== undefined, rule: deciding?.index };
    },
    maySeeAll(caller, mount, { path }) {
      if (caller.owner) return true;
      const judging = pathsOf(caller, mount);
      return !judging.denied(path, whole) && judging.allowed(path, whole) !== undefined;
    },
    filesFor(caller, mount, { path }) {
      if (caller.owner || ofFiles.length === 0) return undefined;
      const { byFilesAlone, unlessDenied } = decisionsOf(caller).files;
      // Without the folders above a pattern: that they can be entered says nothing about files.
      return pathsOf(caller, mount).allowed(path, whole) ? unlessDenied : byFilesAlone;
    },
    visibilityKey(caller) {
      if (caller.owner) return undefined;
      const meant = rules.flatMap(({ allow, deny }, index) =>
        [...(allow ?? []), ...(deny ?? [])].some((subject) => isMeant(subject, caller)) ? [index] : [],
      );
      return meant.join(" ");
    },
    mayWrite: (caller, mount) =>
      caller.owner ||
      rules.some(
        ({ allow, write, mounts }) =>
          write && (mounts?.includes(mount) ?? true) && (allow ?? []).some((subject) => isMeant(subject, caller)),
      ),
  };
}

function compile({ allow, deny, paths, files }: AccessRule, index: number): CompiledRule {
  const patterns = files?.map((pattern) => pattern.replace(/^\/+/, "")) ?? paths;
  const folded = deny === undefined ? patterns : patterns?.map((pattern) => pattern.toLowerCase());
  const covering = folded?.map((pattern) => `{${pattern},${pattern}/**}`);
  return {
    index,
    globs: covering?.map(createGlob),
    patterns: covering ?? [],
    above: new Set(allow === undefined ? [] : ["", ...(patterns ?? []).flatMap(foldersAbove)]),
  };
}

/** An absolute path as patterns see it: with slashes, and without the first. */
function slashed(path: string): string {
  return withSlashes(path).replace(/^\//, "");
}

function below(folder: string, path: string): string {
  if (folder === "") return path;
  return path === "" ? slashed(folder) : `${slashed(folder)}/${path}`;
}

function createFileDecisions(allow: readonly CompiledRule[], deny: readonly CompiledRule[]): FileDecisions {
  const judge = createJudge(allow, deny);
  const visible = (isAllowed: boolean): VisibleFiles => ({
    maySee(file) {
      const path = below(file.folder ?? "", file.folder === undefined ? slashed(file.path) : file.path);
      return !judge.denied(path, file) && (isAllowed || judge.allowed(path, file) !== undefined);
    },
    mayHold(folder) {
      const path = slashed(folder);
      if (judge.denied(path)) return false;
      return isAllowed || judge.allowed(path) !== undefined || allow.some((rule) => mayLead(rule, path));
    },
  });
  return { judge, byFilesAlone: visible(false), unlessDenied: deny.length === 0 ? undefined : visible(true) };
}

function createJudge(allow: readonly CompiledRule[], deny: readonly CompiledRule[]): Judge {
  if (allow.length + deny.length === 0) return nothing;
  const states = new Map<string, FolderState>();
  const denied = unionOf(deny);
  const allowed = unionOf(allow);
  /** Neighbours on a page are in one folder. */
  let last: { readonly folder: string; readonly above: string; readonly state: FolderState } | undefined;

  function stateOf(folder: string): FolderState {
    const known = states.get(folder);
    if (known) return known;
    const lower = folder.toLowerCase();
    const state: FolderState = {
      denied: deny.find((rule) => covers(rule, lower)),
      allowed: allow.find((rule) => covers(rule, folder)),
      deny: deny.filter((rule) => mayLead(rule, lower)),
      mayBeDenied: denied.matchesIn(lower, true),
      allow: allow.filter((rule) => mayLead(rule, folder)),
      mayBeAllowed: allowed.matchesIn(folder),
    };
    if (states.size >= maxFolders) states.clear();
    states.set(folder, state);
    return state;
  }

  function stateAbove(folder: string, path: string, slash: number): FolderState {
    const length = Math.max(0, slash);
    if (last?.folder === folder && last.above.length === length && path.startsWith(last.above)) return last.state;
    const above = path.slice(0, length);
    last = { folder, above, state: stateOf(below(folder, above)) };
    return last.state;
  }

  return {
    denied(path, { isWhole = false } = noFacts, folder = "") {
      const slash = path.lastIndexOf("/");
      const state = stateAbove(folder, path, slash);
      if (state.denied || state.deny.length === 0) return state.denied;
      if (!isWhole && path !== "" && !state.mayBeDenied(path, slash + 1)) return undefined;
      const lower = below(folder, path).toLowerCase();
      return state.deny.find((rule) => covers(rule, lower) || (isWhole && mayLead(rule, lower)));
    },
    allowed(path, { isWhole = false, isFile = false } = noFacts, folder = "") {
      const slash = path.lastIndexOf("/");
      const state = stateAbove(folder, path, slash);
      if (state.allowed) return state.allowed;
      const mayBe = state.allow.length > 0 && (path === "" || state.mayBeAllowed(path, slash + 1));
      const full = below(folder, path);
      const covering = mayBe ? state.allow.find((rule) => covers(rule, full)) : undefined;
      if (covering || isWhole || isFile) return covering;
      // The root and the folders above a pattern, so that a caller can get there.
      const normal = full.normalize("NFC");
      return allow.find(({ above }) => above.has(normal));
    },
  };
}

/** Matches every path that one of the rules covers, in the time of one pattern: most paths are covered by none. */
function unionOf(rules: readonly CompiledRule[]): Glob {
  return createGlobUnion(rules.flatMap(({ patterns }) => patterns));
}

function mayLead({ globs }: CompiledRule, path: string): boolean {
  return globs?.some((glob) => glob.mayLead(path)) ?? false;
}

function covers({ globs }: CompiledRule, path: string): boolean {
  return globs === undefined || globs.some((glob) => glob.matches(path));
}

/** Only folders that the pattern names literally: behind a wildcard, a name may be that of a file. */
function foldersAbove(pattern: string): string[] {
  const names = pattern.normalize("NFC").split("/");
  const literal = names.findIndex((name) => isGlob(name) || name.includes("\\"));
  const count = literal === -1 ? names.length - 1 : literal;
  return names.slice(0, count).map((_, index) => names.slice(0, index + 1).join("/"));
}
