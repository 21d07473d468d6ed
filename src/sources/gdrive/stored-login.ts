/** Drive accounts signed in on this machine: in the system keychain if there is one, else in a file that only its owner can read. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseJson } from "../../lib/parse-json.ts";
import { denied, quote, ResourceError, unavailable } from "../../errors.ts";
import { withFileLock } from "../../lib/file-lock.ts";
import { stateFolder, systemPathsOf } from "../../lib/system-paths.ts";
import { writeFileAtomically } from "../../lib/write-file-atomically.ts";
import { isDriveObject, listIn, textIn } from "./drive-objects.ts";
import { createKeychain, type Keychain } from "./keychain.ts";

/** Secret, except for the address. */
export interface StoredLogin {
  readonly email: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly refreshToken: string;
  /** The server that issued it, if not Google. */
  readonly rootUrl?: string;
}

/** The part that may be shown. */
export interface StoredAccount {
  readonly email: string;
  readonly kept: "keychain" | "file";
}

export interface StoredLogins {
  /** The latest sign-in comes first. */
  readonly accounts: readonly StoredAccount[];
  find(email: string): Promise<StoredLogin | undefined>;
  keep(login: StoredLogin): Promise<StoredAccount>;
  /** False if no account of that name was signed in. */
  forget(email: string): Promise<boolean>;
}

type Env = Readonly<Record<string, string | undefined>>;

export function createStoredLogins(env: Env, platform: NodeJS.Platform = process.platform): StoredLogins {
  const state = stateFolder({ ...systemPathsOf(env), platform });
  const folder = join(state, "drive");
  const register = join(folder, "accounts.json");
  const fileOf = (email: string) =>
    join(folder, `${createHash("sha256").update(email).digest("hex").slice(0, 32)}.json`);
  const keychain = createKeychain({ platform, env });
  /** Two concurrent sign-ins must both end up in the list. */
  const alone = <T>(work: () => Promise<T>) => withFileLock(register, work, { folder: join(state, "locks") });

  function accounts(): readonly StoredAccount[] {
    return listIn({ all: readJson(register) }, "all").flatMap((each) => {
      const email = textIn(each, "email");
      return email === undefined ? [] : [{ email, kept: each["kept"] === "keychain" ? "keychain" : "file" }];
    });
  }

  async function keepIn(place: Keychain | undefined, login: StoredLogin): Promise<StoredAccount["kept"]> {
    const secret = Buffer.from(JSON.stringify(login)).toString("base64url");
    // Some keychains accept a secret but do not return it.
    if (place && (await place.store(login.email, secret)) && (await place.find(login.email)) === secret) {
      rmSync(fileOf(login.email), { force: true });
      return "keychain";
    }
    writeAlone(folder, fileOf(login.email), login);
    return "file";
  }

  return {
    get accounts() {
      return accounts();
    },

    async find(email) {
      const account = accounts().find((each) => each.email === email);
      if (!account) return undefined;
      if (account.kept === "file") return toLogin(readJson(fileOf(email)));
      const secret = await keychain?.find(email);
      return secret === undefined ? undefined : toLogin(parseJson(Buffer.from(secret, "base64url").toString("utf8")));
    },

    async keep(login) {
      if (!isAddress(login.email))
        throw new ResourceError("unexpected", "the account has no address, so it cannot be stored");
      return alone(async () => {
        const account = { email: login.email, kept: await keepIn(keychain, login) };
        writeAlone(folder, register, [account, ...accounts().filter(({ email }) => email !== login.email)]);
        return account;
      });
    },

    async forget(email) {
      return alone(async () => {
        const before = accounts();
        const account = before.find((each) => each.email === email);
        if (!account) return false;
        if (account.kept === "keychain") await keychain?.remove(email);
        rmSync(fileOf(email), { force: true });
        writeAlone(
          folder,
          register,
          before.filter((each) => each !== account),
        );
        return true;
      });
    },
  };
}

/** The account that signed in last. */
export function lastSignedIn(env: Env): string | undefined {
  return createStoredLogins(env).accounts[0]?.email;
}

/** Throws if the account is not signed in, or no longer. */
export async function findLogin(email: string, env: Env): Promise<StoredLogin> {
  const found = await createStoredLogins(env).find(email.toLowerCase());
  if (!found) throw denied(`${quote(email)} has not signed in here; run: pressmark drive login`);
  return found;
}

/** An address that no program can mistake for an option or a path. */
function isAddress(email: string): boolean {
  return /^[\w.+-]{1,64}@[\w.-]{1,255}$/.test(email);
}

function toLogin(given: unknown): StoredLogin | undefined {
  if (!isDriveObject(given)) return undefined;
  const [email, clientId, refreshToken] = ["email", "clientId", "refreshToken"].map((name) => textIn(given, name));
  if (email === undefined || clientId === undefined || refreshToken === undefined) return undefined;
  const [clientSecret, rootUrl] = [textIn(given, "clientSecret"), textIn(given, "rootUrl")];
  return {
    email,
    clientId,
    refreshToken,
    clientSecret,
    rootUrl,
  };
}

/** Written completely or not at all, readable by the owner only. */
function writeAlone(folder: string, file: string, value: unknown): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileAtomically(file, `${JSON.stringify(value)}\n`);
}

function readJson(file: string): unknown {
  try {
    return parseJson(readFileSync(file, "utf8"));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unavailable("the stored sign-in to Drive cannot be read", cause);
  }
}
