/** Collects the permissions that each part of a config needs, and decides which parts may act. */
import { canonicalJson } from "../lib/canonical-json.ts";
import { visibleText } from "../lib/visible-text.ts";
import type { KeyPath } from "./problem.ts";
import { isPlainObject } from "./references.ts";
import { shownPart } from "./shown-part.ts";
import {
  askedFact,
  changedFacts,
  type Facts,
  type Grant,
  type GrantedState,
  isGranted,
  isSameFacts,
  type Permission,
  sha256,
  whyOutdated,
} from "./trust.ts";

/**
 * How the config was chosen: named by the user, which grants everything; a trusted program, which could do everything by itself;
 * or found in a folder.
 */
export type Standing = "named" | "program" | "found";

export interface Asking {
  /** Whether references at this key may be resolved; undefined if the key has no effect. */
  mayResolve(path: KeyPath): boolean | undefined;
  /** Whether the part was granted as written. The files that it leads to may have changed. */
  isGrantedAsWritten(part: string | undefined): boolean;
  /** Adds reasons to the part of this key. A grant covers only reasons that were shown. */
  because(path: KeyPath, ...reasons: readonly string[]): void;
  /** The same for a reason that follows from the text of the part alone. */
  becauseWritten(path: KeyPath, ...reasons: readonly string[]): void;
  /** Binds a grant of this part to facts. Returns whether they are unchanged since the grant. */
  bind(part: string | undefined, facts: Facts): boolean;
  /** Marks the part as impossible to trust. */
  refuse(part: string | undefined, why: string): void;
  /** All parts that need a permission. */
  permissions(): readonly Permission[];
}

interface AskingOptions {
  readonly standing: Standing;
  /** The parsed config, before references are resolved. */
  readonly raw: unknown;
  readonly grant: Grant;
}

/** Sections in the order of the trust prompt, after the mounts. */
const sections = ["callers", "rules", "server", "search", "limits", "redact"];
/** Settings that show served content to other machines: changing the mounts changes what they see. */
const telling = ["host", "allowedHosts", "allowedOrigins", "publicUrl", "auth", "state", "bus", "embeddings"];
/** Maximum length of one part in the trust prompt. */
const maxShown = 4000;

interface Draft {
  readonly reasons: Set<string>;
  /** Reasons bound in addition to the text of the part. */
  readonly boundReasons: Set<string>;
  readonly settings: Set<string>;
  readonly found: Record<string, string>;
  refused?: string;
}

export function createAsking({ standing, raw, grant }: AskingOptions): Asking {
  const drafts = new Map<string, Draft>();
  const written = new Map<string, Facts>();
  const whole = isPlainObject(raw) ? raw : {};

  function draftOf(part: string): Draft {
    let draft = drafts.get(part);
    if (!draft)
      drafts.set(part, (draft = { reasons: new Set(), boundReasons: new Set(), settings: new Set(), found: {} }));
    return draft;
  }

  function writtenOf(part: string): Facts {
    let facts = written.get(part);
    if (!facts) written.set(part, (facts = standing === "program" ? {} : writtenFacts(part, whole)));
    return facts;
  }

  function isGrantedAsWritten(part: string | undefined): boolean {
    if (standing !== "found") return true;
    if (part === undefined) return false;
    const granted = grant.parts.get(part);
    return granted !== undefined && isSameFacts(granted.written, writtenOf(part));
  }

  function bind(part: string | undefined, facts: Facts): boolean {
    if (part === undefined) return false;
    Object.assign(draftOf(part).found, facts);
    return changedFacts(grant.parts.get(part)?.found ?? {}, facts).length === 0;
  }

  function add(path: KeyPath, reason: string): Draft | undefined {
    const part = partOf(path);
    if (part === undefined) return undefined;
    const draft = draftOf(part);
    draft.reasons.add(visibleText(reason));
    const setting = part === "redact" || part === "rules" ? part : path[1];
    if (sections.includes(part) && setting !== undefined) draft.settings.add(String(setting));
    return draft;
  }

  function toPermission(part: string, { reasons, boundReasons, settings, found, refused }: Draft): Permission {
    const shown = standing === "program" ? [] : shownPart(valueOf(part, whole));
    const length = [...shown, ...reasons].reduce((sum, line) => sum + line.length, 0);
    const tooLong = `is too long to be shown (${length} characters, of at most ${maxShown})`;
    const why = refused ?? (length > maxShown ? tooLong : undefined);
    const bound = standing === "found" ? [...boundReasons].map(askedFact) : [];
    const facts = { part, written: writtenOf(part), found: Object.assign({}, found, ...bound) as Facts };
    const isNow = standing === "named" || (why === undefined && isCurrent(facts));
    const outdated = isNow ? undefined : whyOutdated(grant, facts);
    return {
      ...facts,
      reasons: [...reasons],
      settings: [...settings],
      shown,
      isGranted: isNow,
      refused: why,
      outdated,
    };
  }

  /** A trusted program needs a grant only for files that it names and paths that it leads to. */
  function isCurrent(facts: GrantedState): boolean {
    return isGranted(grant, facts) || (standing === "program" && Object.keys(facts.found).length === 0);
  }

  return {
    mayResolve(path) {
      return standing === "found" && partOf(path) === undefined ? undefined : isGrantedAsWritten(partOf(path));
    },

    isGrantedAsWritten,

    because(path, ...reasons) {
      for (const reason of reasons) add(path, reason)?.boundReasons.add(reason);
    },

    becauseWritten(path, ...reasons) {
      for (const reason of reasons) add(path, reason);
    },

    bind,

    refuse(part, why) {
      if (part !== undefined) draftOf(part).refused = why;
    },

    permissions() {
      const mounts = isPlainObject(whole["mounts"]) ? Object.keys(whole["mounts"]).map((name) => `mounts.${name}`) : [];
      return [...mounts, ...sections].flatMap((part) => {
        const draft = drafts.get(part);
        return draft && draft.reasons.size > 0 ? [toPermission(part, draft)] : [];
      });
    },
  };
}

/** Undefined for keys without effect: sets, which hold no references, and unknown keys. */
export function partOf([section, name]: KeyPath): string | undefined {
  if (section === "mounts") return typeof name === "string" ? `mounts.${name}` : undefined;
  return typeof section === "string" && sections.includes(section) ? section : undefined;
}

function valueOf(part: string, raw: Readonly<Record<string, unknown>>): unknown {
  if (!part.startsWith("mounts.")) return raw[part];
  const mounts = raw["mounts"];
  return isPlainObject(mounts) ? mounts[part.slice("mounts.".length)] : undefined;
}

/** A digest of each option, and of settings elsewhere that affect the part. */
function writtenFacts(part: string, raw: Readonly<Record<string, unknown>>): Facts {
  const value = valueOf(part, raw);
  const options = isPlainObject(value) ? Object.entries(value) : [[part, value] as const];
  const facts = Object.fromEntries(options.map(([name, each]) => [name, digest(each)]));
  const isMount = part.startsWith("mounts.");
  const isTelling = !isMount && telling.some((name) => Object.hasOwn(facts, name));
  const isMasked = isMount && !Object.hasOwn(facts, "redact");
  return {
    ...facts,
    ...(isTelling && { mounts: digest(raw["mounts"]) }),
    ...((isTelling || isMasked) && { "redact for all mounts": digest(raw["redact"]) }),
  };
}

function digest(value: unknown): string {
  return sha256(canonicalJson(value ?? null));
}
