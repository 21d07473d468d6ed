/** Access rules of a config, compiled once per caller: deny wins, and what no rule allows is private. */
import { createGlob, isGlob, type Glob } from "../lib/glob.ts";
import type { Caller } from "../resources.ts";
import type { Address } from "../source.ts";
import type { Policy } from "./policy.ts";

/** Names callers: "anyone", "caller:NAME", "group:NAME", "scope:NAME" or "claim:NAME=VALUE". */
export type Subject = string;

export interface AccessRule {
  readonly allow?: readonly Subject[];
  readonly deny?: readonly Subject[];
  /** Names of mounts. Default: all. */
  readonly mounts?: readonly string[];
  /** Patterns of paths in the mount; each also covers everything below what it matches. Default: all. */
  readonly paths?: readonly string[];
}

export interface AccessDecision {
  readonly isAllowed: boolean;
  /** Index of the deciding rule. Absent if no rule applies, or if the owner asks. */
  readonly rule?: number;
}

export interface RulesPolicy extends Policy {
  /** The decision with its reason. */
  explain(caller: Caller, mount: string, at: Address): AccessDecision;
}

/** One rule as it applies to one caller and mount. */
interface CompiledRule {
  readonly index: number;
  /** Undefined covers the whole mount. */
  readonly globs?: readonly Glob[];
  /** Folders on the way to a pattern: without them its files cannot be reached. */
  readonly above: ReadonlySet<string>;
}

/** What is known about all paths directly in a folder. */
interface FolderState {
  readonly denied?: CompiledRule;
  readonly allowed?: CompiledRule;
  /** Rules that decide by the name within the folder. */
  readonly deny: readonly CompiledRule[];
  readonly allow: readonly CompiledRule[];
}

type MountDecision = (path: string) => AccessDecision;

/** Folders whose state is stored per caller and mount; a page has a few. */
const maxFolders = 1000;
const refused: AccessDecision = { isAllowed: false };
const owned: AccessDecision = { isAllowed: true };

/** Throws a GlobError for a pattern that cannot be used. */
export function createRulesPolicy(rules: readonly AccessRule[]): RulesPolicy {
  const globs = new Map<string, Glob>();
  const byCaller = new WeakMap<Caller, Map<string, MountDecision>>();

  function compile(rule: AccessRule, index: number): CompiledRule {
    const isDeny = rule.deny !== undefined;
    return {
      index,
      globs: rule.paths?.map((pattern) => globOf(isDeny ? pattern.toLowerCase() : pattern)),
      above: new Set(isDeny ? [] : (rule.paths ?? []).flatMap(foldersAbove)),
    };
  }

  function globOf(pattern: string): Glob {
    const known = globs.get(pattern);
    if (known) return known;
    const glob = createGlob(`{${pattern},${pattern}/**}`);
    globs.set(pattern, glob);
    return glob;
  }

  const compiled = rules.map(compile);

  function decisionFor(caller: Caller, mount: string): MountDecision {
    let byMount = byCaller.get(caller);
    if (!byMount) byCaller.set(caller, (byMount = new Map()));
    let decision = byMount.get(mount);
    if (!decision) {
      const applying = (who: "allow" | "deny") =>
        compiled.filter(({ index }) => {
          const { mounts, [who]: subjects } = rules[index]!;
          return (mounts?.includes(mount) ?? true) && (subjects?.some((subject) => isMeant(subject, caller)) ?? false);
        });
      byMount.set(mount, (decision = createDecision(applying("allow"), applying("deny"))));
    }
    return decision;
  }

  const explain: RulesPolicy["explain"] = (caller, mount, { path }) =>
    caller.owner ? owned : decisionFor(caller, mount)(path);
  return { explain, maySee: (caller, mount, at) => explain(caller, mount, at).isAllowed };
}

function createDecision(allow: readonly CompiledRule[], deny: readonly CompiledRule[]): MountDecision {
  if (allow.length === 0) return () => refused;
  const states = new Map<string, FolderState>();

  function stateOf(folder: string): FolderState {
    const known = states.get(folder);
    if (known) return known;
    const lower = folder.toLowerCase();
    const state: FolderState = {
      denied: deny.find((rule) => covers(rule, lower)),
      allowed: allow.find((rule) => covers(rule, folder)),
      deny: deny.filter(({ globs }) => globs?.some((glob) => glob.mayLead(lower))),
      allow: allow.filter(({ globs }) => globs?.some((glob) => glob.mayLead(folder))),
    };
    if (states.size >= maxFolders) states.clear();
    states.set(folder, state);
    return state;
  }

  return (path) => {
    const state = stateOf(path === "" ? "" : path.slice(0, Math.max(0, path.lastIndexOf("/"))));
    const lower = state.deny.length > 0 ? path.toLowerCase() : path;
    const denied = state.denied ?? state.deny.find((rule) => covers(rule, lower));
    if (denied) return { isAllowed: false, rule: denied.index };
    const allowed =
      state.allowed ??
      state.allow.find((rule) => covers(rule, path)) ??
      // The mount itself and the folders above a pattern, so that a caller can get there.
      allow.find(({ above }) => path === "" || above.has(path.normalize("NFC")));
    return allowed ? { isAllowed: true, rule: allowed.index } : refused;
  };
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
