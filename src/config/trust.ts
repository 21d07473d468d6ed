/** What a person has allowed a config to do, kept for its owner alone. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { visibleText } from "../lib/visible-text.ts";
import { writeFileAtomically } from "../lib/write-file-atomically.ts";

/** What a grant is bound to, each under the name that a person is told when it has changed, as a digest. */
export type Facts = Readonly<Record<string, string>>;

/** Something that a config which was merely found may not do unasked. */
export interface Permission {
  /** The part of the config that asks: "mounts.docs", "server", or "config" for all of it. */
  readonly part: string;
  /** Each completes "this config …". */
  readonly reasons: readonly string[];
  /** The settings that are left out without it, where the part is a section of settings. */
  readonly settings: readonly string[];
  /** The part as it is written, one option a line, what acts first; without credentials, and with every character visible. */
  readonly shown: readonly string[];
  /** The part as it is written. References in it may be resolved where this was granted. */
  readonly written: Facts;
  /** What the part leads to on the disk: real paths, the content of programs. */
  readonly found: Facts;
  /** Whether it was granted for the part as it is now, or need not be, for the person named the config. */
  readonly isGranted: boolean;
  /** Why it cannot be granted at all; completes "it …". */
  readonly refused?: string;
  /** Why what was granted before does not count. */
  readonly outdated?: string;
}

export interface GrantedPart {
  readonly written: Facts;
  readonly found: Facts;
}

export interface Grant {
  readonly parts: ReadonlyMap<string, GrantedPart>;
  /** Whether an earlier version wrote it: what it granted was not bound to whole parts, so that nothing of it counts. */
  readonly isEarlier: boolean;
}

export interface TrustStore {
  /** What was granted to this config. */
  read(file: string): Grant;
  /** In place of what was granted before. */
  grant(file: string, permissions: readonly Pick<Permission, "part" | "written" | "found">[]): void;
  /** Says whether anything was granted. */
  forget(file: string): boolean;
  /** The file that a grant stands in, whether or not it is there. */
  placeOf(file: string): string;
}

export const noGrant: Grant = { parts: new Map(), isEarlier: false };

/** Of the form of the file. Grants of version 1 had keys, and no version. */
const version = 2;

/** One file per config, so that two who grant at the same time do not undo each other. */
export function createTrustStore(stateFolder: string): TrustStore {
  const folder = join(stateFolder, "trusted");
  const placeOf = (file: string) => join(folder, `${sha256(identityOf(file)).slice(0, 32)}.json`);

  return {
    placeOf,

    read(file) {
      try {
        const kept = JSON.parse(readFileSync(placeOf(file), "utf8")) as Readonly<Record<string, unknown>>;
        if (kept["file"] !== identityOf(file)) return noGrant;
        if (kept["version"] !== version) return { ...noGrant, isEarlier: true };
        const parts = Object.entries(kept["parts"] as Readonly<Record<string, unknown>>).filter(isGrantedPart);
        return { parts: new Map(parts), isEarlier: false };
      } catch {
        // What cannot be read grants nothing.
        return noGrant;
      }
    },

    grant(file, permissions) {
      const parts = Object.fromEntries(permissions.map(({ part, written, found }) => [part, { written, found }]));
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const text = `${JSON.stringify({ version, file: identityOf(file), parts }, undefined, 2)}\n`;
      writeFileAtomically(placeOf(file), text);
    },

    forget(file) {
      const { parts, isEarlier } = this.read(file);
      if (parts.size === 0 && !isEarlier) return false;
      // Empty and not gone, so that a server which follows the file hears of it.
      this.grant(file, []);
      return true;
    },
  };
}

function isGrantedPart(entry: [string, unknown]): entry is [string, GrantedPart] {
  const { written, found } = (entry[1] ?? {}) as Partial<GrantedPart>;
  return [written, found].every((facts) => typeof facts === "object" && facts !== null);
}

/** Whether both are the same. A fact that is gone counts: an option that was removed may have kept something back. */
export function isSameFacts(granted: Facts, now: Facts): boolean {
  return changedFacts(granted, now).length === 0 && changedFacts(now, granted).length === 0;
}

/** The names of those that are another now, or new. */
export function changedFacts(granted: Facts, now: Facts): string[] {
  return Object.keys(now).filter((name) => !Object.hasOwn(granted, name) || granted[name] !== now[name]);
}

/** Whether a part was granted as it is now. Of what it leads to, less than was granted is granted, too. */
export function isGranted(
  grant: Grant,
  { part, written, found }: Pick<Permission, "part" | "written" | "found">,
): boolean {
  const granted = grant.parts.get(part);
  return (
    granted !== undefined && isSameFacts(granted.written, written) && changedFacts(granted.found, found).length === 0
  );
}

/** Why a grant does not count for the part as it is now; undefined where there is none. */
export function whyOutdated(
  grant: Grant,
  { part, written, found }: Pick<Permission, "part" | "written" | "found">,
): string | undefined {
  const granted = grant.parts.get(part);
  if (!granted)
    return grant.isEarlier
      ? "what an earlier version was allowed no longer counts: a grant now covers a whole mount or section as it is"
      : undefined;
  const rewritten = [...changedFacts(granted.written, written), ...changedFacts(written, granted.written)];
  // What is written in another way mostly leads elsewhere, too.
  const changed = rewritten.length > 0 ? rewritten : changedFacts(granted.found, found);
  const names = changed.map((name) => (name.startsWith(askedFor) ? askedFor : visibleText(name)));
  return `${part} changed since it was trusted: ${[...new Set(names)].join(", ")}`;
}

/** So many reasons of one part are said on one line; `pressmark trust` shows them all. */
const maxReasons = 5;

/** What a part asks for, on one line. */
export function asksFor({ reasons }: Pick<Permission, "reasons">): string {
  const more = reasons.length - maxReasons;
  return `${reasons.slice(0, maxReasons).join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
}

/** What became of a part that was not granted, and why. */
export function leftOut(permission: Pick<Permission, "refused" | "outdated">): string {
  return ended("which is left out", permission);
}

/** The same of a whole config. */
export function notUsed(permission: Pick<Permission, "refused" | "outdated">): string {
  return ended("so it is not used", permission);
}

function ended(what: string, { refused, outdated }: Pick<Permission, "refused" | "outdated">): string {
  if (refused !== undefined) return `${what}: it ${refused}, so it cannot be trusted; name the config with --config`;
  return `${what} until it is trusted${outdated === undefined ? "" : ` (${outdated})`}`;
}

const askedFor = "what it asks for";

/** A reason as a fact: one that was not shown was not granted, whatever brought it about. */
export function askedFact(reason: string): Facts {
  return { [`${askedFor} (${sha256(reason)})`]: "" };
}

export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** Where a config stands. A link in another folder to the same file is another config: its paths lead elsewhere. */
function identityOf(file: string): string {
  return join(realPath(dirname(resolve(file))), basename(file));
}

/** Without links, also where the end of it does not exist yet: what a link leads to is what is asked for. */
export function realPath(path: string): string {
  return followed(resolve(path), 0);
}

function followed(path: string, links: number): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    if (parent === path || links > maxLinks) return path;
    const here = join(followed(parent, links), basename(path));
    const target = linkAt(here);
    return target === undefined ? here : followed(resolve(dirname(here), target), links + 1);
  }
}

/** As many as Linux follows. */
const maxLinks = 40;

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Whether the second is the first or below it, links followed. */
export function holds(folder: string, path: string): boolean {
  return isBelow(realPath(folder), realPath(path));
}

/** The same for paths that are taken as they are: the disk is not looked at. */
export function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && resolve(folder, way) === path);
}
