/** Signing in to Drive, for the command: who has, how one does, and whether it still counts. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { quote, ResourceError, toResourceError } from "../errors.ts";
import type { Runtime } from "../source.ts";
import { createDriveApi } from "../sources/gdrive/drive-api.ts";
import { createDriveIdentity } from "../sources/gdrive/identity.ts";
import { createStoredLogins, type StoredAccount, type StoredLogins } from "../sources/gdrive/stored-login.ts";
import { readClientKey, signIn, signOut } from "../sources/gdrive/login.ts";

export interface DriveLogins {
  /** The person agrees in a browser, at the address that they are shown. */
  login(client: string, show: (url: string) => void | Promise<void>, signal: AbortSignal): Promise<StoredAccount>;
  /** Says whether Google took the token back, too. */
  logout(
    email: string | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly email: string; readonly isRevoked: boolean }>;
  status(signal: AbortSignal): Promise<readonly AccountStatus[]>;
}

export interface AccountStatus extends StoredAccount {
  /** Why Drive cannot be asked with it. */
  readonly problem?: string;
}

export interface DriveLoginOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly runtime: Runtime;
  /** Of an emulator. */
  readonly rootUrl?: string | undefined;
}

export function createDriveLogins({ env, runtime, rootUrl }: DriveLoginOptions): DriveLogins {
  const logins = createStoredLogins(env);
  return {
    async login(client, show, signal) {
      const key = readClientKey(readClient(client));
      return logins.keep(await signIn({ client: key, rootUrl, show, runtime }, signal));
    },

    async logout(wanted, signal) {
      const email = wanted?.toLowerCase() ?? onlyOne(logins);
      const login = await logins.find(email);
      if (!(await logins.forget(email))) throw new ResourceError("not-found", `${quote(email)} has not signed in here`);
      return { email, isRevoked: login !== undefined && (await signOut(login, signal)) };
    },

    status: (signal) =>
      Promise.all(
        logins.accounts.map(async (account) => {
          const problem = await problemOf(account, logins, runtime, signal);
          return { ...account, ...(problem !== undefined && { problem }) };
        }),
      ),
  };
}

/** Shows a page to the person, where there is a program that does. */
export function openBrowser(url: string, platform: NodeJS.Platform = process.platform): void {
  const program = platform === "darwin" ? "open" : platform === "win32" ? "explorer" : "xdg-open";
  // Where there is none, the person has the address before them.
  execFile(program, [url], () => undefined).unref();
}

async function problemOf(
  { email }: StoredAccount,
  logins: StoredLogins,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const login = await logins.find(email);
    if (!login) return "what was kept of it is gone; sign in again";
    const identity = createDriveIdentity({ keyFile: undefined, subject: undefined, login: async () => login });
    const { rootUrl = "https://www.googleapis.com/" } = login;
    const api = createDriveApi({
      rootUrl,
      identity,
      withPermissions: false,
      timeoutMs: 20_000,
      patienceMs: 0,
      runtime,
    });
    await api.account(signal);
    return undefined;
  } catch (cause) {
    return toResourceError(cause).message;
  }
}

function onlyOne({ accounts }: StoredLogins): string {
  const [first, ...others] = accounts;
  if (!first) throw new ResourceError("not-found", "no one has signed in to Drive here");
  if (others.length > 0)
    throw new ResourceError("invalid", `say which account: ${accounts.map(({ email }) => quote(email)).join(", ")}`);
  return first.email;
}

function readClient(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new ResourceError("invalid", `${quote(file)} cannot be read (${(cause as NodeJS.ErrnoException).code})`);
  }
}
