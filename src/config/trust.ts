/** Stores which permissions the user granted to a config, readable only by the user. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { realPath } from "../lib/real-path.ts";
import { visibleText } from "../lib/visible-text.ts";
import { writeFileAtomically } from "../lib/write-file-atomically.ts";

/** What a grant is bound to: digests by name. The name is shown when the digest changes. */
export type Facts = Readonly<Record<string, string>>;

/** A permission that a config found in a folder needs. */
export interface Permission {
  /** The part that needs it: "mounts.docs", "server", or "config" for all of it. */
  readonly part: string;
  /** Each completes "this config …". */
  readonly reasons: readonly string[];
  /** For a section: the settings that are left out without the permission. */
  readonly settings: readonly string[];
  /** The part as written, one option per line, what acts first; without credentials, with every character visible. */
  readonly shown: readonly string[];
  /** Digests of the part as written. If these are granted, its references may be resolved. */
  readonly written: Facts;
  /** Digests of what the part leads to on the disk: real paths, contents of programs. */
  readonly found: Facts;
  /** Whether it is granted for the current state of the part, or not needed because the user named the config. */
  readonly isGranted: boolean;
  /** Why it cannot be granted at all; completes "it …". */
  readonly refused?: string;
  /** Why an earlier grant is no longer valid. */
  readonly outdated?: string;
}

/** What a grant of a part is bound to. */
export type GrantedState = Pick<Permission, "part" | "written" | "found">;

type GrantedPart = Omit<GrantedState, "part">;

export interface Grant {
  readonly parts: ReadonlyMap<string, GrantedPart>;
  /** Written by an earlier version, whose grants did not cover whole parts: it is ignored. */
  readonly isEarlier: boolean;
}

export const noGrant: Grant = { parts: new Map(), isEarlier: false };

/** Version of the file format. Version 1 had keys and no version. */
const version = 2;

/** One file per config, so that concurrent grants do not overwrite each other. */
export function createTrustStore(stateFolder: string) {
  const folder = join(stateFolder, "trusted");
  /** The file of a grant, whether or not it exists. */
  const placeOf = (file: string) => join(folder, `${sha256(identityOf(file)).slice(0, 32)}.json`);

  /** The grant for this config. */
  function read(file: string): Grant {
    try {
      const stored = JSON.parse(readFileSync(placeOf(file), "utf8")) as Readonly<Record<string, unknown>>;
      if (stored["file"] !== identityOf(file)) return noGrant;
      if (stored["version"] !== version) return { ...noGrant, isEarlier: true };
      const parts = Object.entries(stored["parts"] as Readonly<Record<string, unknown>>).filter(isGrantedPart);
      return { parts: new Map(parts), isEarlier: false };
    } catch {
      // An unreadable file grants nothing.
      return noGrant;
    }
  }

  /** Replaces the earlier grant. */
  function grant(file: string, permissions: readonly GrantedState[]): void {
    const parts = Object.fromEntries(permissions.map(({ part, written, found }) => [part, { written, found }]));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const text = `${JSON.stringify({ version, file: identityOf(file), parts }, undefined, 2)}\n`;
    writeFileAtomically(placeOf(file), text);
  }

  /** Returns whether anything was granted. */
  function forget(file: string): boolean {
    const { parts, isEarlier } = read(file);
    if (parts.size === 0 && !isEarlier) return false;
    // Emptied and not deleted, so that a server that watches the file notices.
    grant(file, []);
    return true;
  }

  return { placeOf, read, grant, forget };
}

function isGrantedPart(entry: [string, unknown]): entry is [string, GrantedPart] {
  const { written, found } = (entry[1] ?? {}) as Partial<GrantedPart>;
  return [written, found].every((facts) => typeof facts === "object" && facts !== null);
}

/** A removed fact counts as a change: the removed option may have restricted something. */
export function isSameFacts(granted: Facts, now: Facts): boolean {
  return changedFacts(granted, now).length === 0 && changedFacts(now, granted).length === 0;
}

/** Names of facts that are new or changed. */
export function changedFacts(granted: Facts, now: Facts): string[] {
  return Object.keys(now).filter((name) => !Object.hasOwn(granted, name) || granted[name] !== now[name]);
}

/** Whether a part is granted as it is now. Fewer `found` facts than granted are fine. */
export function isGranted(grant: Grant, { part, written, found }: GrantedState): boolean {
  const granted = grant.parts.get(part);
  return (
    granted !== undefined && isSameFacts(granted.written, written) && changedFacts(granted.found, found).length === 0
  );
}

/** Why a grant is not valid for the current state of the part; undefined without a grant. */
export function whyOutdated(grant: Grant, { part, written, found }: GrantedState): string | undefined {
  const granted = grant.parts.get(part);
  if (!granted)
    return grant.isEarlier
      ? "the grant of an earlier version is no longer valid: a grant now covers a whole mount or section"
      : undefined;
  const rewritten = [...changedFacts(granted.written, written), ...changedFacts(written, granted.written)];
  // A changed text usually leads elsewhere too, so only the text is reported.
  const changed = rewritten.length > 0 ? rewritten : changedFacts(granted.found, found);
  const names = changed.map((name) => {
    if (name.startsWith(askedFor)) return askedFor;
    const [before, after] = [granted.found[name], found[name]];
    const isVersion = name.startsWith(versionOf) && before !== undefined && after !== undefined;
    return visibleText(isVersion ? `${name} (was ${before}, is ${after})` : name);
  });
  return `${part} changed since it was trusted: ${[...new Set(names)].join(", ")}`;
}

/** Reasons of one part on one line; `pressmark trust` shows all. */
const maxReasons = 5;

/** The reasons of a part on one line. */
export function asksFor({ reasons }: Pick<Permission, "reasons">): string {
  const more = reasons.length - maxReasons;
  return `${reasons.slice(0, maxReasons).join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
}

/** Completes a sentence about a part that was not granted. */
export function leftOut(permission: Pick<Permission, "refused" | "outdated">): string {
  return ended("which is left out", permission);
}

/** The same for a whole config. */
export function notUsed(permission: Pick<Permission, "refused" | "outdated">): string {
  return ended("so it is not used", permission);
}

function ended(what: string, { refused, outdated }: Pick<Permission, "refused" | "outdated">): string {
  if (refused !== undefined)
    return `${what}: it ${refused}, so it cannot be trusted; pass the config with --config instead`;
  return `${what} until it is trusted${outdated === undefined ? "" : ` (${outdated})`}`;
}

const askedFor = "what it asks for";

/** Binds a grant to a reason: only reasons that were shown are granted. */
export function askedFact(reason: string): Facts {
  return { [`${askedFor} (${sha256(reason)})`]: "" };
}

const versionOf = "the version of ";

/** Binds a grant to a version, which is shown when it changes. */
export function versionFact(of: { readonly name: string; readonly version: string }): Facts {
  return { [`${versionOf}${of.name}`]: of.version };
}

export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** Identity of a config: its path. A link to it in another folder is another config, because its paths lead elsewhere. */
function identityOf(file: string): string {
  return join(realPath(dirname(resolve(file))), basename(file));
}

/** Whether `path` is `folder` or below it, with links resolved. */
export function holds(folder: string, path: string): boolean {
  return isBelow(realPath(folder), realPath(path));
}

/** The same without reading the disk. */
export function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && resolve(folder, way) === path);
}
