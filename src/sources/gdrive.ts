/** Files of Google Drive: documents as text, folders as directories, each under its id. */
import { invalid } from "../errors.ts";
import { defineSource } from "../source.ts";
import { createRetryState } from "./gdrive/backoff.ts";
import { createDriveApi } from "./gdrive/drive-api.ts";
import { createDriveSource } from "./gdrive/drive-source.ts";
import { createDriveIdentity } from "./gdrive/identity.ts";
import { openLedgerFile } from "./gdrive/ledger-file.ts";
import { findLogin, lastSignedIn } from "./gdrive/stored-login.ts";
import { driveOptions, type DriveSourceOptions } from "./gdrive/options.ts";

export type { DriveSourceOptions };

/** A question that Drive puts off is given up while its caller still waits; what goes on by itself has all the time there is. */
const questionMs = 20_000;

export default defineSource<DriveSourceOptions>({
  name: "gdrive",
  summary: "Files of Google Drive",
  scheme: "gdrive",
  options: driveOptions,
  base: () => "gdrive://",
  usesCredentials: ({ anonymous }) => !anonymous,

  async open(options, runtime) {
    const { keyFile, subject, account, anonymous, rootUrl, access, timeoutMs } = options;
    if (!anonymous && !mayProve(rootUrl))
      throw invalid(
        "credentials are sent to Google, or to an emulator on this machine, and to no one else; leave out rootUrl, or set anonymous",
      );
    // Whoever it is now it stays, whoever else signs in: what is kept of one is not for another.
    let person = anonymous || keyFile !== undefined ? undefined : (account ?? personNow());
    const identity = anonymous
      ? undefined
      : createDriveIdentity({
          keyFile,
          subject,
          async login() {
            person ??= lastSignedIn(process.env);
            return person === undefined ? undefined : findLogin(person, process.env);
          },
        });
    const asking = { rootUrl, identity, withPermissions: access === "drive", timeoutMs, runtime };
    const trouble = createRetryState();
    return createDriveSource(options, {
      api: createDriveApi({ ...asking, patienceMs: questionMs }),
      patientApi: createDriveApi({ ...asking, patienceMs: Infinity, trouble }),
      trouble,
      ledger: await openLedgerFile({ ...options, account: person }, runtime),
      runtime,
    });
  },
});

/** Undefined also where that cannot be found out: then it is said when it is first needed. */
function personNow(): string | undefined {
  try {
    return lastSignedIn(process.env);
  } catch {
    return undefined;
  }
}

/** Whoever is sent a proof can read all of Drive with it. */
function mayProve(rootUrl: string): boolean {
  const { protocol, hostname } = new URL(rootUrl);
  if (["127.0.0.1", "localhost", "[::1]"].includes(hostname)) return true;
  return protocol === "https:" && /^(?:[\w-]+\.)*googleapis\.com$/.test(hostname);
}
