/** Signs in to Drive and out, and lists accounts, for the command. */
import { readFileSync } from "node:fs";
import { quote, ResourceError, toResourceError } from "../errors.ts";
import type { Runtime } from "../source.ts";
import { createDriveApi } from "../sources/gdrive/drive-api.ts";
import { createDriveIdentity } from "../sources/gdrive/identity.ts";
import { createStoredLogins, type StoredAccount, type StoredLogins } from "../sources/gdrive/stored-login.ts";
import { readClientKey, signIn, signOut } from "../sources/gdrive/login.ts";

interface DriveLogins {
  /** The user consents in a browser, at the URL passed to `show`. */
  login(client: string, show: (url: string) => void | Promise<void>, signal: AbortSignal): Promise<StoredAccount>;
  /** Returns whether Google revoked the token. */
  logout(
    email: string | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly email: string; readonly isRevoked: boolean }>;
  status(signal: AbortSignal): Promise<readonly AccountStatus[]>;
}

interface AccountStatus extends StoredAccount {
  /** Why the account does not work. */
  readonly problem?: string;
}

interface DriveLoginOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly runtime: Runtime;
  /** URL of an emulator. */
  readonly rootUrl?: string;
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
      if (!(await logins.forget(email))) throw new ResourceError("not-found", `${quote(email)} is not signed in here`);
      return { email, isRevoked: login !== undefined && (await signOut(login, signal)) };
    },

    status: (signal) =>
      Promise.all(
        logins.accounts.map(async (account) => {
          const problem = await problemOf(account, logins, runtime, signal);
          return { ...account, problem };
        }),
      ),
  };
}

async function problemOf(
  { email }: StoredAccount,
  logins: StoredLogins,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const login = await logins.find(email);
    if (!login) return "the stored token is missing; sign in again";
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
  if (!first) throw new ResourceError("not-found", "nobody is signed in to Drive here");
  if (others.length > 0)
    throw new ResourceError(
      "invalid",
      `choose an account with --account: ${accounts.map(({ email }) => quote(email)).join(", ")}`,
    );
  return first.email;
}

function readClient(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new ResourceError("invalid", `${quote(file)} cannot be read (${(cause as NodeJS.ErrnoException).code})`);
  }
}
