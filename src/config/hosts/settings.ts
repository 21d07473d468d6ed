/** What a host's settings say of Pressmark, and the smallest change that makes them say what they should. */
import { mkdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { invalid, quote, ResourceError } from "../../errors.ts";
import { JsonTextError, memberOf, parseJsonText, nodeValue } from "../../lib/json-text.ts";
import { createPlaceFinder } from "../../lib/text-position.ts";
import { writeFileAtomically } from "../../lib/write-file-atomically.ts";
import { isPlainObject } from "../references.ts";
import { editJson } from "./edit-json.ts";
import { editToml, readToml } from "./edit-toml.ts";
import { type HostConnection, connectionKeys, type HostFile } from "./hosts.ts";
import { askedInput, tokenKeys, tokenReference } from "./token-reference.ts";
import { TomlTextError } from "./toml-text.ts";

/** The name that hosts know this server by. */
export const serverName = "pressmark";

export type HostEntry = Readonly<Record<string, unknown>>;

/** Undefined where the host does not know Pressmark. A file that cannot be understood throws "invalid". */
export function readEntry(host: HostFile): HostEntry | undefined {
  const text = readSettings(host.file);
  if (text === undefined || text.trim() === "") return undefined;
  return explained(host, text, () => {
    if (host.format === "toml") return readToml(text, [...host.path, serverName]);
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
  /** Undefined where there is no file yet. */
  readonly before: string | undefined;
  readonly after: string;
  /** Of a new file; for its owner alone unless said. */
  readonly mode?: number;
}

/** What the file would be with this connection. What else is said of Pressmark there stays. */
export function planChange(host: HostFile, connection: HostConnection): SettingsChange {
  const before = readSettings(host.file);
  const text = before ?? "";
  const path = [...host.path, serverName];
  const after = explained(host, text, () => {
    const entry = readEntry(host) ?? {};
    const set = { ...host.render(connection), ...tokenFor(host, connection, entry) };
    const ours = connection.kind === "stdio" ? [...connectionKeys, ...tokenKeys] : connectionKeys;
    const drop = ours.filter((key) => !(key in set));
    if (isSet(entry, set, drop)) return text;
    if (host.format === "toml") return editToml(text, { path, set: set as Spelled, drop });
    const kept = Object.entries(entry).filter(([key]) => !(key in set) && !drop.includes(key));
    const told = editJson(text, path, { ...set, ...Object.fromEntries(kept) });
    return host.host === "vscode" && "headers" in set ? withAskedInput(told) : told;
  });
  return { file: host.file, before, after };
}

type Spelled = ReturnType<HostFile["render"]>;

/** The reference to the token, where one must be sent and a person has not said another way. */
function tokenFor({ host }: HostFile, connection: HostConnection, entry: HostEntry): HostEntry {
  if (connection.kind !== "http" || connection.tokenVariable === undefined) return {};
  const said = Object.entries(tokenReference(host, connection.tokenVariable) ?? {});
  return Object.fromEntries(
    said.map(([key, value]) => {
      const own = entry[key];
      return [key, isPlainObject(own) && isPlainObject(value) ? { ...value, ...own } : (own ?? value)];
    }),
  );
}

/** Whether the entry says all of this, and nothing of what is to be gone. */
function isSet(entry: HostEntry, set: HostEntry, drop: readonly string[]): boolean {
  return (
    Object.entries(set).every(([key, value]) => JSON.stringify(entry[key]) === JSON.stringify(value)) &&
    drop.every((key) => !(key in entry))
  );
}

/** What the header refers to is asked of the person: the file has to say so. */
function withAskedInput(text: string): string {
  const member = memberOf(parseJsonText(text, { comments: true }), "inputs");
  const inputs = member ? nodeValue(member.value) : [];
  if (!Array.isArray(inputs)) throw invalid(`"inputs" is no list; change it by hand`);
  if (inputs.some((input) => isPlainObject(input) && input["id"] === askedInput.id)) return text;
  return editJson(text, ["inputs"], [...(inputs as unknown[]), askedInput]);
}

/**
 * Writes the change whole or not at all, through links, with the permissions that the file has. Gives the copy of what was there
 * before. A file that changed since the change was planned throws "invalid". For who holds the lock of the file: see `whileAlone`.
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
  return invalid(`${quote(file)} has changed in the meantime; nothing was written, so try again`);
}

function readSettings(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new ResourceError("denied", `${quote(file)} cannot be read; check its permissions`, { cause });
  }
}

function explained<T>(host: HostFile, text: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof JsonTextError) && !(cause instanceof TomlTextError)) throw cause;
    const { line, column } = createPlaceFinder(text)(cause.offset);
    throw invalid(
      `${host.file}:${line}:${column}: ${cause.message}; ${host.title} could not read it either, so mend it first`,
    );
  }
}
