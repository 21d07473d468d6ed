/** Reads the key file that an option or a variable names. Errors say what is wrong with the file, and never repeat its content. */
import { createPrivateKey } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { denied, quote, type ResourceError } from "../errors.ts";

export type GoogleKey = Readonly<Record<string, unknown>>;

const maxBytes = 1024 * 1024;
/** Fields that each type of key needs. The library knows further types. */
const needed: Readonly<Record<string, readonly string[]>> = {
  service_account: ["client_email", "private_key"],
  authorized_user: ["client_id", "refresh_token"],
};

/** `option` is the name of what names the file. */
export async function readGoogleKey(file: string, option = "keyFile"): Promise<GoogleKey> {
  const wrong = (what: string): ResourceError => denied(`the key file ${quote(file)} ${what}; check ${option}`);
  let text: string;
  try {
    const stats = await stat(file);
    if (!stats.isFile()) throw wrong("is not a file");
    if (stats.size > maxBytes) throw wrong(`is larger than ${maxBytes} bytes`);
    text = await readFile(file, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw cause;
    throw code === "ENOENT" ? denied(`no key file ${quote(file)}; check ${option}`) : wrong(`cannot be read (${code})`);
  }
  const key = parseKey(text);
  const type = key?.["type"];
  if (!key || typeof type !== "string") throw wrong("is not the JSON key of a service account");
  const missing = (needed[type] ?? []).filter((name) => typeof key[name] !== "string" || key[name] === "");
  if (missing.length > 0) throw wrong(`lacks ${missing.map((name) => quote(name)).join(" and ")}`);
  if (type === "service_account" && !isPrivateKey(String(key["private_key"])))
    throw wrong('has a "private_key" that is not in PEM format');
  return key;
}

/** For a key that the file holds as it should, and Google does not accept. */
export function refusedKey(file: string): ResourceError {
  return denied(
    `Google does not accept the key in ${quote(file)}; check that it was not revoked, or set another keyFile`,
  );
}

/** True for errors of the library that say nothing about the credentials. */
export function isTokenServiceAway(cause: unknown): boolean {
  const { status, code } = cause as { readonly status?: unknown; readonly code?: unknown };
  return (
    /^(?:E(?!RR_)[A-Z_]+|UND_ERR_\w+)$/.test(String(code)) ||
    (typeof status === "number" && (status >= 500 || status === 429))
  );
}

function parseKey(text: string): GoogleKey | undefined {
  try {
    const key: unknown = JSON.parse(text);
    return typeof key === "object" && key !== null ? (key as GoogleKey) : undefined;
  } catch {
    // The error of the parser repeats the text.
    return undefined;
  }
}

function isPrivateKey(pem: string): boolean {
  try {
    createPrivateKey(pem);
    return true;
  } catch {
    return false;
  }
}
