/** Access rules of a config, compiled once per caller: deny wins, and what no rule allows is private. */
import { sep } from "node:path";
import { createGlob, createGlobUnion, isGlob, type Glob } from "../lib/glob.ts";
import type { Caller } from "../resources.ts";
import type { ShownFiles } from "../source.ts";
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

/** The first rule that denies a path, and the first that allows it. `isWhole` asks about everything below it too; the path is below `folder`. */
interface Judge {
  denied(path: string, isWhole?: boolean, folder?: string): CompiledRule | undefined;
  allowed(path: string, isWhole?: boolean, folder?: string): CompiledRule | undefined;
}

interface CallerDecisions {
  /** By name of the mount. */
  readonly paths: Map<string, Judge>;
  readonly files: Judge;
}

/** Folders whose state is stored per caller and mount; a page has a few. */
const maxFolders = 1000;
const nothing: Judge = { denied: () => undefined, allowed: () => undefined };

/** Throws a GlobError for a pattern that cannot be used. */
export function createRulesPolicy(rules: readonly AccessRule[]): RulesPolicy {
  const compiled = rules.map((rule, index) => compile(rule, index));
  const ofFiles = compiled.filter(({ index }) => rules[index]!.files !== undefined);
  const ofPaths = compiled.filter(({ index }) => rules[index]!.files === undefined);
  const byCaller = new WeakMap<Caller, CallerDecisions>();

  function judge(among: readonly CompiledRule[], caller: Caller): Judge {
    const applying = (who: "allow" | "deny") =>
      among.filter(({ index }) => rules[index]![who]?.some((subject) => isMeant(subject, caller)));
    return createJudge(applying("allow"), applying("deny"));
  }

  /** A page asks a thousand times for one caller. */
  let last: { readonly caller: Caller; readonly decisions: CallerDecisions } | undefined;

  function decisionsOf(caller: Caller): CallerDecisions {
    if (last?.caller === caller) return last.decisions;
    let decisions = byCaller.get(caller);
    if (!decisions) byCaller.set(caller, (decisions = { paths: new Map(), files: judge(ofFiles, caller) }));
    last = { caller, decisions };
    return decisions;
  }

  function pathsOf(caller: Caller, mount: string): Judge {
    const { paths } = decisionsOf(caller);
    let own = paths.get(mount);
    if (!own) {
      const applying = ofPaths.filter(({ index }) => rules[index]!.mounts?.includes(mount) ?? true);
      paths.set(mount, (own = judge(applying, caller)));
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
    const byFile = decisionsOf(caller).files;
    for (const file of files) {
      const { folder = "", path: name, isWhole } = file;
      const found = byFile[verdict](folder === "" ? slashed(name) : name, isWhole, folder);
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
      return !judging.denied(path, true) && judging.allowed(path, true) !== undefined;
    },
    visibilityKey(caller) {
      if (caller.owner) return undefined;
      const applying = rules.flatMap(({ allow, deny }, index) =>
        [...(allow ?? []), ...(deny ?? [])].some((subject) => isMeant(subject, caller)) ? [index] : [],
      );
      return applying.join(" ");
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
  const withSlashes = sep === "/" ? path : path.replaceAll(sep, "/");
  return withSlashes.startsWith("/") ? withSlashes.slice(1) : withSlashes;
}

function below(folder: string, path: string): string {
  if (folder === "") return path;
  return path === "" ? slashed(folder) : `${slashed(folder)}/${path}`;
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
    denied(path, isWhole = false, folder = "") {
      const slash = path.lastIndexOf("/");
      const state = stateAbove(folder, path, slash);
      if (state.denied || state.deny.length === 0) return state.denied;
      if (!isWhole && path !== "" && !state.mayBeDenied(path, slash + 1)) return undefined;
      const lower = below(folder, path).toLowerCase();
      return state.deny.find((rule) => covers(rule, lower) || (isWhole && mayLead(rule, lower)));
    },
    allowed(path, isWhole = false, folder = "") {
      const slash = path.lastIndexOf("/");
      const state = stateAbove(folder, path, slash);
      if (state.allowed) return state.allowed;
      const mayBe = state.allow.length > 0 && (path === "" || state.mayBeAllowed(path, slash + 1));
      const whole = below(folder, path);
      const covering = mayBe ? state.allow.find((rule) => covers(rule, whole)) : undefined;
      if (covering || isWhole) return covering;
      // The root and the folders above a pattern, so that a caller can get there.
      const normal = whole.normalize("NFC");
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
