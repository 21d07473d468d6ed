/** Access rules of a config, compiled once per caller: deny wins, and what no rule allows is private. */
import { createGlob, createGlobUnion, isGlob, type Glob } from "../lib/glob.ts";
import type { Caller } from "../resources.ts";
import type { ShownFiles, VisibleFiles } from "../source.ts";
import type { Policy } from "./policy.ts";

/** Names callers: "anyone", "caller:NAME", "group:NAME", "scope:NAME" or "claim:NAME=VALUE". */
type Subject = string;

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
  readonly mayBeDenied: (name: string) => boolean;
  readonly allow: readonly CompiledRule[];
  readonly mayBeAllowed: (name: string) => boolean;
}

/** The rules that deny and allow a path. */
interface Verdict {
  readonly denied?: CompiledRule;
  readonly allowed?: CompiledRule;
}

type JudgedFacts = Pick<ShownFiles, "isWhole" | "isFile">;
type Judge = (path: string, facts?: JudgedFacts) => Verdict;

/** Decisions about files, shared by all callers for whom the same rules apply. */
interface FileDecisions {
  readonly judge: Judge;
  /** What is visible of a mount that no rule about paths allows, and of one that such a rule allows. */
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
const noVerdict: Verdict = {};
const noFacts: JudgedFacts = {};
const whole: JudgedFacts = { isWhole: true };

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

  function decisionsOf(caller: Caller): CallerDecisions {
    let decisions = byCaller.get(caller);
    if (!decisions) byCaller.set(caller, (decisions = { paths: new Map(), files: fileDecisions(caller) }));
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

  const explain: RulesPolicy["explain"] = (caller, mount, { path }, files) => {
    if (caller.owner) return { isAllowed: true };
    const byPath = pathsOf(caller, mount)(path);
    const byFile = ofFiles.length === 0 ? [] : (files ?? []).map((file) => judgeShown(decisionsOf(caller).files, file));
    const denied = byPath.denied ?? byFile.find((verdict) => verdict.denied)?.denied;
    const deciding = denied ?? byPath.allowed ?? byFile.find(({ allowed }) => allowed)?.allowed;
    return { isAllowed: denied === undefined && deciding !== undefined, rule: deciding?.index };
  };
  return {
    explain,
    maySee: (...question) => explain(...question).isAllowed,
    filesFor(caller, mount, { path }) {
      if (caller.owner || ofFiles.length === 0) return undefined;
      const { byFilesAlone, unlessDenied } = decisionsOf(caller).files;
      // Without the folders above a pattern: that they can be entered says nothing about files.
      return pathsOf(caller, mount)(path, whole).allowed ? unlessDenied : byFilesAlone;
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

function pathIn(path: string): string {
  return path.replaceAll("\\", "/").replace(/^\/+/, "");
}

/** A source that filters decides about each file below by itself. */
function judgeShown({ judge }: FileDecisions, file: ShownFiles): Verdict {
  return judge(pathIn(file.path), file.isFiltered ? undefined : file);
}

function createFileDecisions(allow: readonly CompiledRule[], deny: readonly CompiledRule[]): FileDecisions {
  const judge = createJudge(allow, deny);
  const visible = (isAllowed: boolean): VisibleFiles => ({
    maySee(file) {
      const { denied, allowed } = judge(pathIn(file.path), file);
      return denied === undefined && (isAllowed || allowed !== undefined);
    },
    mayHold(folder) {
      const path = pathIn(folder);
      const { denied, allowed } = judge(path);
      return denied === undefined && (isAllowed || allowed !== undefined || allow.some((rule) => mayLead(rule, path)));
    },
  });
  return { judge, byFilesAlone: visible(false), unlessDenied: deny.length === 0 ? undefined : visible(true) };
}

function createJudge(allow: readonly CompiledRule[], deny: readonly CompiledRule[]): Judge {
  if (allow.length + deny.length === 0) return () => noVerdict;
  const states = new Map<string, FolderState>();
  const denied = unionOf(deny);
  const allowed = unionOf(allow);

  function stateOf(folder: string): FolderState {
    const known = states.get(folder);
    if (known) return known;
    const lower = folder.toLowerCase();
    const state: FolderState = {
      denied: deny.find((rule) => covers(rule, lower)),
      allowed: allow.find((rule) => covers(rule, folder)),
      deny: deny.filter((rule) => mayLead(rule, lower)),
      mayBeDenied: denied.matchesIn(lower),
      allow: allow.filter((rule) => mayLead(rule, folder)),
      mayBeAllowed: allowed.matchesIn(folder),
    };
    if (states.size >= maxFolders) states.clear();
    states.set(folder, state);
    return state;
  }

  return (path, { isWhole = false, isFile = false } = noFacts) => {
    const slash = path.lastIndexOf("/");
    const state = stateOf(path.slice(0, Math.max(0, slash)));
    const name = path.slice(slash + 1);
    const lower = state.deny.length > 0 ? path.toLowerCase() : path;
    return {
      denied:
        state.denied ??
        (state.deny.length > 0 && (isWhole || path === "" || state.mayBeDenied(name.toLowerCase()))
          ? state.deny.find((rule) => covers(rule, lower) || (isWhole && mayLead(rule, lower)))
          : undefined),
      allowed:
        state.allowed ??
        (state.allow.length > 0 && (path === "" || state.mayBeAllowed(name))
          ? state.allow.find((rule) => covers(rule, path))
          : undefined) ??
        // The root and the folders above a pattern, so that a caller can get there.
        (isWhole || isFile ? undefined : allow.find(({ above }) => above.has(path.normalize("NFC")))),
    };
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

function isMeant(subject: Subject, { id, groups = [], scopes = [], claims = {} }: Caller): boolean {
  if (subject === "anyone") return true;
  const colon = subject.indexOf(":");
  const [kind, name] = [subject.slice(0, colon), subject.slice(colon + 1)];
  switch (kind) {
    case "caller":
      return id === name;
    case "group":
      return groups.includes(name);
    case "scope":
      return scopes.includes(name);
    case "claim": {
      const equals = name.indexOf("=");
      const value = claims[name.slice(0, equals)];
      const wanted = name.slice(equals + 1);
      return Array.isArray(value) ? value.includes(wanted) : value === wanted;
    }
    default:
      return false;
  }
}
