/** Reads Pressmark's entry in a host's settings, and makes the smallest change that corrects it. */
import { mkdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { invalid, quote, ResourceError } from "../../errors.ts";
import { JsonTextError, memberOf, parseJsonText, nodeValue } from "../../lib/json-text.ts";
import { createPlaceFinder } from "../../lib/text-position.ts";
import { writeFileAtomically } from "../../lib/write-file-atomically.ts";
import { isPlainObject } from "../references.ts";
import { editJson } from "./edit-json.ts";
import { editToml, readToml } from "./edit-toml.ts";
import { editYaml, readYaml, YamlTextError } from "./edit-yaml.ts";
import { connectionKeys, type EntryValues, type HostConnection } from "./entry-formats.ts";
import type { HostFile } from "./hosts.ts";
import { askedInput, tokenKeys, tokenReference } from "./token-reference.ts";
import { TomlTextError } from "./toml-text.ts";

/** Name of this server in hosts. */
export const serverName = "pressmark";

export type HostEntry = Readonly<Record<string, unknown>>;

/** Undefined without an entry. Throws "invalid" if the file cannot be parsed. */
export function readEntry(host: HostFile): HostEntry | undefined {
  const text = readSettings(host.file);
  if (text === undefined || text.trim() === "") return undefined;
  return explained(host, text, () => {
    if (host.format === "toml") return readToml(text, [...host.path, serverName]);
    if (host.format === "yaml") return readYaml(text, host.path[0]!, serverName);
    let node = parseJsonText(text, { comments: true });
    for (const key of [...host.path, serverName]) {
      const member = memberOf(node, key);
      if (!member) return undefined;
      node = member.value;
    }
    const value = nodeValue(node);
    return isPlainObject(value) ? value : {};
  });
}

export interface SettingsChange {
  readonly file: string;
  /** Undefined if the file does not exist. */
  readonly before: string | undefined;
  readonly after: string;
  /** Mode of a new file. Default: only its owner may read it. */
  readonly mode?: number;
  /** Whether the entry keeps a token that it had, instead of the variable of the connection. */
  readonly keepsToken?: boolean;
}

/** The file with this connection. Other keys of the entry stay. */
export function planChange(host: HostFile, connection: HostConnection): SettingsChange {
  const before = readSettings(host.file);
  const text = before ?? "";
  const path = [...host.path, serverName];
  let keepsToken = false;
  const after = explained(host, text, () => {
    const entry = readEntry(host) ?? {};
    const isChosen = connection.kind === "http" && connection.isTokenChosen === true;
    const token = tokenFor(host, connection, entry, isChosen);
    keepsToken = !isDeepStrictEqual(token, tokenFor(host, connection, entry, true));
    const set = { ...host.render(connection), ...token };
    const ours = connection.kind === "stdio" ? [...connectionKeys, ...tokenKeys] : connectionKeys;
    const drop = ours.filter((key) => !(key in set));
    if (isSet(entry, set, drop)) return text;
    if (host.format === "toml") return editToml(text, { path, set: set as EntryValues, drop });
    const others = Object.entries(entry).filter(([key]) => !(key in set) && !drop.includes(key));
    const changed = { ...set, ...Object.fromEntries(others) };
    if (host.format === "yaml") return editYaml(text, host.path[0]!, serverName, changed);
    const edited = editJson(text, path, changed);
    return host.host === "vscode" && "headers" in set ? withAskedInput(edited) : edited;
  });
  return { file: host.file, before, after, keepsToken };
}

/** The token reference, if a token is required. It replaces the token that the entry has only if `replaces`. */
function tokenFor({ host }: HostFile, connection: HostConnection, entry: HostEntry, replaces: boolean): HostEntry {
  if (connection.kind !== "http" || connection.tokenVariable === undefined) return {};
  const reference = Object.entries(tokenReference(host, connection.tokenVariable) ?? {});
  return Object.fromEntries(reference.map(([key, value]) => [key, merged(entry[key], value, replaces)]));
}

/** Keys are compared as the names of headers, without case. */
function merged(own: unknown, value: unknown, replaces: boolean): unknown {
  if (!isPlainObject(own) || !isPlainObject(value)) return replaces ? value : (own ?? value);
  const result = { ...own };
  for (const [key, each] of Object.entries(value)) {
    const there = Object.keys(own).find((name) => name.toLowerCase() === key.toLowerCase()) ?? key;
    result[there] = merged(own[there], each, replaces);
  }
  return result;
}

/** Whether the entry has all values of `set` and no key of `drop`. */
function isSet(entry: HostEntry, set: HostEntry, drop: readonly string[]): boolean {
  return (
    Object.entries(set).every(([key, value]) => JSON.stringify(entry[key]) === JSON.stringify(value)) &&
    drop.every((key) => !(key in entry))
  );
}

/** Adds the input that the header refers to, so that VS Code prompts for it. */
function withAskedInput(text: string): string {
  const member = memberOf(parseJsonText(text, { comments: true }), "inputs");
  const inputs = member ? nodeValue(member.value) : [];
  if (!Array.isArray(inputs)) throw invalid(`"inputs" is not a list; change it by hand`);
  if (inputs.some((input) => isPlainObject(input) && input["id"] === askedInput.id)) return text;
  return editJson(text, ["inputs"], [...(inputs as unknown[]), askedInput]);
}

/**
 * Writes the change atomically, through links, and keeps the file's permissions. Returns the path of the backup. Throws "invalid"
 * if the file changed since the change was planned. Callers hold the lock of the file: see `whileAlone`.
 */
export function writeChange(
  { file, before, after, mode = 0o600 }: SettingsChange,
  backupFolder: string,
): string | undefined {
  if (readSettings(file) !== before) throw changedMeanwhile(file);
  const target = before === undefined ? file : realpathSync(file);
  let backup: string | undefined;
  if (before === undefined) mkdirSync(dirname(file), { recursive: true });
  else {
    mkdirSync(backupFolder, { recursive: true, mode: 0o700 });
    const stamp = new Date().toISOString().replaceAll(/[:.]/g, "-");
    backup = join(backupFolder, `${stamp}-${basename(file)}`);
    writeFileAtomically(backup, readFileSync(target));
  }
  try {
    writeFileAtomically(target, after, { mode, keepsMode: true, isNew: before === undefined });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") throw changedMeanwhile(file);
    throw cause;
  }
  return backup;
}

function changedMeanwhile(file: string): ResourceError {
  return invalid(`${quote(file)} changed in the meantime; nothing was written, try again`);
}

const maxBytes = 4 * 1024 * 1024;

/** Undefined if there is none. The file may come with a project: a pipe or device would block or never end. */
function readSettings(file: string): string | undefined {
  try {
    const found = statSync(file);
    if (!found.isFile()) throw invalid(`${quote(file)} is not a file, so it is not read`);
    if (found.size > maxBytes) throw invalid(`${quote(file)} is larger than 4 MiB, so it is not read`);
    return readFileSync(file, "utf8");
  } catch (cause) {
    if (cause instanceof ResourceError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new ResourceError("denied", `${quote(file)} cannot be read; check its permissions`, { cause });
  }
}

function explained<T>(host: HostFile, text: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (![JsonTextError, TomlTextError, YamlTextError].some((kind) => cause instanceof kind)) throw cause;
    const { line, column } = createPlaceFinder(text)((cause as JsonTextError).offset);
    throw invalid(
      `${host.file}:${line}:${column}: ${(cause as Error).message}; ${host.title} cannot read it either, so fix it first`,
    );
  }
}
