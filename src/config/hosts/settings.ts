/** What a host's settings say of Pressmark, and the smallest change that makes them say what they should. */
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { invalid, quote, ResourceError } from "../../errors.ts";
import { JsonTextError, memberOf, parseJsonText, placeOf, valueOf } from "../../lib/json-text.ts";
import { isPlainObject } from "../references.ts";
import { editJson } from "./edit-json.ts";
import { editToml, readToml } from "./edit-toml.ts";
import { type Connection, connectionKeys, type HostFile } from "./hosts.ts";
import { TomlTextError } from "./toml-text.ts";

/** The name that hosts know this server by. */
export const serverName = "pressmark";

export type Entry = Readonly<Record<string, unknown>>;

/** Undefined where the host does not know Pressmark. A file that cannot be understood throws "invalid". */
export function readEntry(host: HostFile): Entry | undefined {
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
    const value = valueOf(node);
    return isPlainObject(value) ? value : {};
  });
}

export interface SettingsChange {
  readonly file: string;
  /** Undefined where there is no file yet. */
  readonly before: string | undefined;
  readonly after: string;
}

/** What the file would be with this connection. What else is said of Pressmark there stays. */
export function planChange(host: HostFile, connection: Connection): SettingsChange {
  const before = readSettings(host.file);
  const text = before ?? "";
  const set = host.spell(connection);
  const path = [...host.path, serverName];
  const after = explained(host, text, () => {
    if (host.format === "toml") {
      const drop = connectionKeys.filter((key) => !(key in set));
      return isSet(readToml(text, path), set) ? text : editToml(text, { path, set, drop });
    }
    const entry = readEntry(host);
    if (isSet(entry, set)) return text;
    const kept = Object.entries(entry ?? {}).filter(([key]) => !connectionKeys.includes(key));
    return editJson(text, path, { ...set, ...Object.fromEntries(kept) });
  });
  return { file: host.file, before, after };
}

/** Whether the entry says this connection and no other beside it. */
function isSet(entry: Entry | undefined, set: Entry): boolean {
  if (!entry) return false;
  const said = Object.entries(entry).filter(([key]) => connectionKeys.includes(key));
  return (
    said.length === Object.keys(set).length &&
    said.every(([key, value]) => JSON.stringify(value) === JSON.stringify(set[key]))
  );
}

/**
 * Writes the change whole or not at all, through links, with the permissions that the file has. Gives the copy of what was there
 * before. A file that changed since the change was planned throws "invalid".
 */
export function writeChange({ file, before, after }: SettingsChange, backupFolder: string): string | undefined {
  if (readSettings(file) !== before)
    throw invalid(`${quote(file)} has changed in the meantime; nothing was written, so try again`);
  const target = before === undefined ? file : realpathSync(file);
  let backup: string | undefined;
  if (before === undefined) mkdirSync(dirname(file), { recursive: true });
  else {
    mkdirSync(backupFolder, { recursive: true, mode: 0o700 });
    const stamp = new Date().toISOString().replaceAll(/[:.]/g, "-");
    backup = join(backupFolder, `${stamp}-${basename(file)}`);
    copyFileSync(target, backup);
    chmodSync(backup, 0o600);
  }
  const draft = join(dirname(target), `.${basename(target)}.${crypto.randomUUID()}`);
  try {
    const mode = before === undefined ? 0o600 : statSync(target).mode & 0o777;
    writeFileSync(draft, after, { mode, flag: "wx" });
    renameSync(draft, target);
  } finally {
    rmSync(draft, { force: true });
  }
  return backup;
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
    const { line, column } = placeOf(text, cause.offset);
    throw invalid(
      `${host.file}:${line}:${column}: ${cause.message}; ${host.title} could not read it either, so mend it first`,
    );
  }
}
