/** Access rules of a config, compiled once per caller: deny wins, and what no rule allows is private. */
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
  readonly mayBeDenied: (name: string) => boolean;
  readonly allow: readonly CompiledRule[];
  readonly mayBeAllowed: (name: string) => boolean;
}

/** The rules that deny and allow a path. */
interface Verdict {
  readonly denied?: CompiledRule;
  readonly allowed?: CompiledRule;
}

type Judge = (path: string, isWhole?: boolean) => Verdict;

interface CallerDecisions {
  /** By name of the mount. */
  readonly paths: Map<string, Judge>;
  readonly files: Judge;
}

/** Folders whose state is stored per caller and mount; a page has a few. */
const maxFolders = 1000;
const noVerdict: Verdict = {};

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

  function decisionsOf(caller: Caller): CallerDecisions {
    let decisions = byCaller.get(caller);
    if (!decisions) byCaller.set(caller, (decisions = { paths: new Map(), files: judge(ofFiles, caller) }));
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

  const explain: RulesPolicy["explain"] = (caller, mount, { path }, files) => {
    if (caller.owner) return { isAllowed: true };
    const byPath = pathsOf(caller, mount)(path);
    const byFile =
      ofFiles.length === 0 ? [] : (files ?? []).map((file) => decisionsOf(caller).files(pathIn(file), file.isWhole));
    const denied = byPath.denied ?? byFile.find((verdict) => verdict.denied)?.denied;
    const deciding = denied ?? byPath.allowed ?? byFile.find(({ allowed }) => allowed)?.allowed;
    return { isAllowed: denied === undefined && deciding !== undefined, rule: deciding?.index };
  };
  return {
    explain,
    maySee: (...question) => explain(...question).isAllowed,
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

function pathIn({ path }: ShownFiles): string {
  return path.replaceAll("\\", "/").replace(/^\/+/, "");
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

  return (path, isWhole = false) => {
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
        (isWhole ? undefined : allow.find(({ above }) => above.has(path.normalize("NFC")))),
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
