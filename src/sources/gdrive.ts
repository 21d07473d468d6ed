/** Files in Google Drive: documents as text, folders as directories, each addressed by its id. */
import { detectVariables } from "../backends/detections.ts";
import { invalid } from "../errors.ts";
import { defineSource, type Runtime } from "../source.ts";
import { createRetryState } from "./gdrive/backoff.ts";
import { createDriveApi } from "./gdrive/drive-api.ts";
import { createDriveSource } from "./gdrive/drive-source.ts";
import { createDriveIdentity } from "./gdrive/identity.ts";
import { openLedgerFile } from "./gdrive/ledger-file.ts";
import { createSharedListings } from "./gdrive/shared-listings.ts";
import { findLogin, lastSignedIn } from "./gdrive/stored-login.ts";
import { driveOptions, type DriveSourceOptions } from "./gdrive/options.ts";

export type { DriveSourceOptions };

/** How long a call retries while its caller waits. Background work retries without a limit. */
const callRetryMs = 20_000;

export default defineSource<DriveSourceOptions>({
  name: "gdrive",
  summary: "Files in Google Drive",
  scheme: "gdrive",
  options: driveOptions,
  base: () => "gdrive://",
  usesCredentials: ({ anonymous }) => !anonymous,
  detect: (project) =>
    detectVariables(
      project,
      /^(?:GOOGLE_DRIVE|GDRIVE|DRIVE)_(?:ROOT_)?FOLDER(?:_ID)?$/,
      "folder of Google Drive",
      (folder) => ({ folders: [folder] }),
    ),

  async open(options, runtime) {
    const { keyFile, subject, account, anonymous, rootUrl, access, timeoutMs } = options;
    if (!anonymous && !maySendCredentials(rootUrl))
      throw invalid(
        "credentials are sent only to Google or to an emulator on this machine; remove rootUrl, or set anonymous",
      );
    // The account stays the same even if another person signs in later: data cached for one account is not for another.
    let person = anonymous || keyFile !== undefined ? undefined : (account ?? currentAccount(runtime.env));
    const identity = anonymous
      ? undefined
      : createDriveIdentity({
          keyFile,
          subject,
          async login() {
            person ??= lastSignedIn(runtime.env);
            return person === undefined ? undefined : findLogin(person, runtime.env);
          },
        });
    const asking = { rootUrl, identity, withPermissions: access === "drive", timeoutMs, runtime };
    const retryState = createRetryState();
    const served = { ...options, account: person };
    return createDriveSource(options, {
      api: createDriveApi({ ...asking, patienceMs: callRetryMs }),
      patientApi: createDriveApi({ ...asking, patienceMs: Infinity, retryState }),
      retryState,
      ledger: await openLedgerFile(served, runtime),
      listings: createSharedListings(served, runtime),
      runtime,
    });
  },
});

/** Undefined also if this cannot be determined; the error is then reported when the account is first needed. */
function currentAccount(env: Runtime["env"]): string | undefined {
  try {
    return lastSignedIn(env);
  } catch {
    return undefined;
  }
}

/** Who receives a token can read all of Drive with it, so it goes only to Google and to this machine. */
function maySendCredentials(rootUrl: string): boolean {
  const { protocol, hostname } = new URL(rootUrl);
  if (["127.0.0.1", "localhost", "[::1]"].includes(hostname)) return true;
  return protocol === "https:" && /^(?:[\w-]+\.)*googleapis\.com$/.test(hostname);
}
