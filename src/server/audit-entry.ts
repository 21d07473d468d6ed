/** Makes the entries of an audit log, each of limited size: a caller chooses the texts in them. */
import { createHash } from "node:crypto";
import { createGlob, isGlob, maxGlobLength } from "../lib/glob.ts";
import { decodeForDisplay } from "../lib/readable-uri.ts";
import type { AuditEntry, AuditEvent, AuditOptions } from "./audit-log.ts";

/** A longer text is stored without its middle: the beginning names the mount, the end the file. In bytes of UTF-8. */
const maxTextBytes = 2048;
const headBytes = 1536;
const ellipsis = "…";
const tailBytes = maxTextBytes - headBytes - Buffer.byteLength(ellipsis);
/** URIs that one entry of several has. */
const maxGroup = 100;
const maxGroupBytes = 8192;
/** About what an entry has besides its texts. */
const fixedBytes = 150;
/** About the size of the members that describe one cut text. */
const cutBytes = 110;

type CutName = keyof NonNullable<AuditEntry["cut"]>;
const cutNames: readonly CutName[] = ["caller", "uri", "query", "detail"];

type ShownParts = Pick<AuditOptions, "hashUris" | "queries">;

/** Of an event that names at most one URI. */
export function toAuditEntry(
  time: string,
  { uri, query, ...event }: Omit<AuditEvent, "uris">,
  { hashUris = false, queries = false }: ShownParts,
): AuditEntry {
  const shownUri = uri === undefined || !hashUris ? uri : hashOf(uri);
  return withoutMiddles({ time, ...event, uri: shownUri, query: queries ? query : undefined });
}

/** Of an event that names several URIs: one entry, or more if there are very many. */
export function toAuditEntries(time: string, { uris = [], ...event }: AuditEvent, shown: ShownParts): AuditEntry[] {
  const entry = toAuditEntry(time, event, shown);
  return groupsOf(shown.hashUris ? uris.map(hashOf) : uris).map((group) =>
    group.length === 1 ? withoutMiddles({ ...entry, uri: group[0] }) : { ...entry, uris: group },
  );
}

/** A URI that is too long for an entry is alone. */
function groupsOf(uris: readonly string[]): string[][] {
  const groups: string[][] = [];
  let group: string[] = [];
  let groupBytes = 0;
  for (const uri of uris) {
    const bytes = Buffer.byteLength(uri);
    if (bytes > maxTextBytes) {
      groups.push([uri]);
      continue;
    }
    if (group.length === 0 || group.length >= maxGroup || groupBytes + bytes > maxGroupBytes) {
      groups.push((group = []));
      groupBytes = 0;
    }
    group.push(uri);
    groupBytes += bytes;
  }
  return groups;
}

function withoutMiddles(entry: AuditEntry): AuditEntry {
  let changed: Partial<Record<CutName, string>> | undefined;
  let cut: AuditEntry["cut"];
  for (const name of cutNames) {
    const text = entry[name];
    // A character has at most three bytes.
    if (text === undefined || text.length <= maxTextBytes / 3) continue;
    const bytes = Buffer.from(text);
    if (bytes.length <= maxTextBytes) continue;
    changed = { ...changed, [name]: withoutMiddle(bytes) };
    cut = { ...cut, [name]: { bytes: bytes.length, sha256: sha256(text) } };
  }
  return cut ? { ...entry, ...changed, cut } : entry;
}

function withoutMiddle(bytes: Buffer): string {
  const isInside = (at: number): boolean => (bytes[at]! & 0xc0) === 0x80;
  let [end, begin] = [headBytes, bytes.length - tailBytes];
  // Not within a character.
  while (isInside(end)) end -= 1;
  while (isInside(begin)) begin += 1;
  return `${bytes.toString("utf8", 0, end)}${ellipsis}${bytes.toString("utf8", begin)}`;
}

/** About the size of its JSON. */
export function auditEntryBytes({ caller = "", uri = "", uris, query = "", detail = "", cut }: AuditEntry): number {
  let bytes = fixedBytes + textBytes(caller) + textBytes(uri) + textBytes(query) + textBytes(detail);
  if (uris) for (const each of uris) bytes += textBytes(each) + 3;
  return cut ? bytes + Object.keys(cut).length * cutBytes : bytes;
}

/** Of short texts the characters: most have one byte, and this is done for every read. */
function textBytes(text: string): number {
  return text.length < 100 ? text.length : Buffer.byteLength(text);
}

/**
 * Whether an entry is about a URI that the text names or that matches it as a pattern. Callers choose how they spell a URI, so both are compared
 * decoded, too. An entry with a cut URI is found by the whole URI, and by every pattern that may match what is missing. Throws a GlobError for a
 * pattern that cannot be used.
 */
export function createAuditUriFilter(given: string): (entry: Pick<AuditEntry, "uri" | "uris" | "cut">) => boolean {
  const text = decodeForDisplay(given);
  const asGiven = globOf(given);
  const glob = globOf(text);
  const digest = sha256(given);
  function matches(uri: string): boolean {
    if (uri === given || asGiven?.matches(uri)) return true;
    const decoded = decodeForDisplay(uri);
    return decoded === text || (glob?.matches(decoded) ?? false);
  }
  return ({ uri, uris = [], cut }) => {
    if (uris.some(matches)) return true;
    if (uri === undefined) return false;
    if (!cut?.uri) return matches(uri);
    if (cut.uri.sha256 === digest) return true;
    if (!glob || !isGlob(text)) return false;
    const head = decodeForDisplay(uri.slice(0, uri.indexOf(ellipsis)));
    return glob.mayLead(head.slice(0, Math.max(0, head.lastIndexOf("/"))));
  };
}

/** Undefined for a whole URI that is longer than patterns may be. */
function globOf(pattern: string): ReturnType<typeof createGlob> | undefined {
  return pattern.length <= maxGlobLength || /[*{]/.test(pattern) ? createGlob(pattern) : undefined;
}

function hashOf(uri: string): string {
  return `sha256:${sha256(uri)}`;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
