/** `pressmark drive`: signs in to Google Drive, signs out, and shows who is signed in. */
import { resolve } from "node:path";
import { defineCommand, filledTextFlag, flag, one, UsageError, type CommandContext } from "../command.ts";
import { jsonLine, plain, print } from "../print.ts";

const actions = ["login", "logout", "status"] as const;
const patienceMs = 600_000;

export default defineCommand({
  name: "drive",
  summary: "Sign in to Google Drive for the gdrive source",
  more: 'login opens a Google page where you allow Pressmark to read your Drive. The resulting token is stored in the system\'s keychain, or without one in a file that only you can read. You need your own client: in the console of a Google Cloud project, enable the Drive API, create an OAuth client of type "Desktop app" and download its file. A service account needs no login: name its key in the config.',
  examples: [
    "pressmark drive login --client client_secret.json",
    "pressmark drive status",
    "pressmark drive logout --account me@example.org",
  ],
  takes: { action: one("Action", actions) },
  flags: {
    client: filledTextFlag("FILE", "Client file, as downloaded from Google's console"),
    account: filledTextFlag("ADDRESS", "Account to sign out, if several are signed in"),
    "no-browser": flag("Print the address without opening a browser"),
    json: flag("Print one JSON object per line"),
  },
  async run({ action, flags }, world) {
    const { client, account, json } = flags;
    if (action !== "login" && client !== undefined) throw new UsageError("--client works only with login");
    if (action !== "logout" && account !== undefined) throw new UsageError("--account works only with logout");
    const logins = await openLogins(world);
    switch (action) {
      case "login": {
        if (client === undefined)
          throw new UsageError("login needs the client file, as in: pressmark drive login --client client_secret.json");
        const show = await shower(world, flags["no-browser"]);
        const signal = AbortSignal.any([world.signal, AbortSignal.timeout(patienceMs)]);
        const { email, kept } = await logins.login(resolve(world.folder, client), show, signal);
        if (json) return print(world.out, jsonLine({ email, kept }));
        const where = kept === "keychain" ? "the system's keychain" : "a file that only you can read";
        return print(world.out, `${plain(email)} is signed in; the token is stored in ${where}\n`);
      }
      case "logout": {
        const { email, isRevoked } = await logins.logout(account, world.signal);
        if (json) return print(world.out, jsonLine({ email, isRevoked }));
        const more = isRevoked ? "" : "; Google could not be reached, so revoke the access in your Google account";
        return print(world.out, `${plain(email)} is signed out${more}\n`);
      }
      case "status": {
        const accounts = await logins.status(world.signal);
        if (json) return print(world.out, accounts.map(jsonLine).join(""));
        if (accounts.length === 0) return print(world.out, "nobody is signed in to Drive here\n");
        const line = ({ email, kept, problem }: (typeof accounts)[number]) =>
          `${plain(email)}  ${kept}  ${plain(problem ?? "works")}\n`;
        return print(world.out, accounts.map(line).join(""));
      }
      default:
        throw new UsageError(`drive takes ${actions.join(", ")}`);
    }
  },
});

async function openLogins({ env, err }: CommandContext) {
  const [{ createDriveLogins }, { createRuntime, logLevel }] = await Promise.all([
    import("../../server/drive-login.ts"),
    import("../../server/runtime.ts"),
  ]);
  // For an emulator; the source has the same option in its config.
  const rootUrl = env["PRESSMARK_DRIVE_URL"];
  return createDriveLogins({ env, runtime: createRuntime(err, logLevel(env)), rootUrl });
}

/** Prints on standard error, so that standard output holds only the result. */
async function shower({ env, err, folder }: CommandContext, isQuiet: boolean): Promise<(url: string) => Promise<void>> {
  const { openBrowser } = await import("../../server/open-browser.ts");
  return async (url) => {
    if (!isQuiet && err.isTTY) openBrowser(url, { env, avoid: [folder] });
    await print(err, `Open this page and allow access:\n\n${url}\n\n`);
  };
}
