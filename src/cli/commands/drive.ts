/** `pressmark drive`: sign in to Google Drive, out of it, and see who is. */
import { resolve } from "node:path";
import { defineCommand, flag, one, UsageError, valueFlag, type CommandContext } from "../command.ts";
import { jsonLine, plain, print } from "../print.ts";

const actions = ["login", "logout", "status"] as const;
const patienceMs = 600_000;

export default defineCommand({
  name: "drive",
  summary: "Sign in to Google Drive, for the source gdrive",
  more: "login shows a page of Google's, where you agree that Pressmark reads your Drive; what it is given there is kept in the system's keychain, or where there is none in a file that only you can read. It needs a client of your own: in the console of a Google Cloud project, switch on the Drive API, make an OAuth client of the kind \"Desktop app\" and download its file. A service account needs no login: name its key in the config.",
  examples: [
    "pressmark drive login --client client_secret.json",
    "pressmark drive status",
    "pressmark drive logout --account me@example.org",
  ],
  takes: { action: one("login, logout or status", actions) },
  flags: {
    client: textFlag("FILE", "the client's file, as Google's console gives it"),
    account: textFlag("ADDRESS", "whom to sign out, where several are signed in"),
    "no-browser": flag("only show the address, and open no browser"),
    json: flag("one JSON object a line"),
  },
  async run({ action, flags }, world) {
    const { client, account, json } = flags;
    if (action !== "login" && client !== undefined) throw new UsageError("--client goes with login");
    if (action !== "logout" && account !== undefined) throw new UsageError("--account goes with logout");
    const logins = await openLogins(world);
    switch (action) {
      case "login": {
        if (client === undefined)
          throw new UsageError(
            "login needs the client's file, as in: pressmark drive login --client client_secret.json",
          );
        const show = await shower(world, flags["no-browser"]);
        const signal = AbortSignal.any([world.signal, AbortSignal.timeout(patienceMs)]);
        const { email, kept } = await logins.login(resolve(world.folder, client), show, signal);
        if (json) return print(world.out, jsonLine({ email, kept }));
        const where = kept === "keychain" ? "the system's keychain" : "a file that only you can read";
        return print(world.out, `${plain(email)} is signed in; what proves it is kept in ${where}\n`);
      }
      case "logout": {
        const { email, isRevoked } = await logins.logout(account, world.signal);
        if (json) return print(world.out, jsonLine({ email, isRevoked }));
        const more = isRevoked ? "" : "; Google could not be told, so take the access back in your Google account";
        return print(world.out, `${plain(email)} is signed out${more}\n`);
      }
      case "status": {
        const accounts = await logins.status(world.signal);
        if (json) return print(world.out, accounts.map(jsonLine).join(""));
        if (accounts.length === 0) return print(world.out, "no one has signed in to Drive here\n");
        const line = ({ email, kept, problem }: (typeof accounts)[number]) =>
          `${plain(email)}  ${kept}  ${plain(problem ?? "works")}\n`;
        return print(world.out, accounts.map(line).join(""));
      }
      default:
        throw new UsageError(`drive takes ${actions.join(", ")}`);
    }
  },
});

function textFlag(value: string, summary: string) {
  return valueFlag<string | undefined>(value, summary, {
    initial: undefined,
    parse(text) {
      if (text.trim() === "") throw new UsageError("takes a text that is not empty");
      return text;
    },
  });
}

async function openLogins({ env, err }: CommandContext) {
  const [{ createDriveLogins }, { createRuntime, logLevel }] = await Promise.all([
    import("../../server/drive-login.ts"),
    import("../../server/runtime.ts"),
  ]);
  // For an emulator, as the source has it in its config.
  const rootUrl = env["PRESSMARK_DRIVE_URL"];
  return createDriveLogins({ env, runtime: createRuntime(err, logLevel(env)), rootUrl });
}

/** On standard error, so that what is printed stays what was asked for. */
async function shower({ err }: CommandContext, isQuiet: boolean): Promise<(url: string) => Promise<void>> {
  const { openBrowser } = await import("../../server/drive-login.ts");
  return async (url) => {
    if (!isQuiet && err.isTTY) openBrowser(url);
    await print(err, `Open this page and agree there:\n\n${url}\n\n`);
  };
}
