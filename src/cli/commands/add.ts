/** `pressmark add`: adds this server to the settings of a host. */
import { join } from "node:path";
import { invalid } from "../../errors.ts";
import { type HostName, hostNames, scopes } from "../../config/hosts/hosts.ts";
import type { SettingsChange } from "../../config/hosts/settings.ts";
import { tokenReference } from "../../config/hosts/token-reference.ts";
import { lineDiff } from "../../lib/line-diff.ts";
import { isRandom } from "../../lib/looks-random.ts";
import { defineCommand, flag, one, oneOf, portNumber, UsageError, valueFlag } from "../command.ts";
import { confirm } from "../confirm.ts";
import { plain, print } from "../print.ts";

export default defineCommand({
  name: "add",
  summary: "Add Pressmark to the settings of a host",
  more: "Shows the change before writing it, leaves the rest of the file unchanged, keeps a backup of the old file, and says what remains to be done. The host starts Pressmark itself (--stdio), or connects to a running server (--http). The project is the nearest folder with a config, from the current one upwards; else the root of the git repository; else the current folder.",
  examples: [
    "pressmark add claude-code",
    "pressmark add codex --scope user",
    "pressmark add vscode --http --port 7400 --yes",
  ],
  takes: { host: one("Host to configure", hostNames) },
  flags: {
    scope: valueFlag("SCOPE", "This project, or all projects of this user", {
      initially: "project, or user for a host without settings of a project",
      offer: scopes,
      parse: oneOf(scopes),
    }),
    stdio: flag("Let the host start Pressmark. This is the default"),
    http: flag("Let the host connect to the server that pressmark serve runs"),
    port: valueFlag("PORT", "With --http: port of the server", {
      initially: "server.port in the config, else 7357",
      parse: portNumber(1),
    }),
    "token-env": valueFlag("NAME", "With --http: environment variable from which the host reads the token", {
      initially: "PRESSMARK_TOKEN if the server requires a token",
      parse: toVariable,
    }),
    yes: flag("Do not ask for confirmation", { short: "y" }),
  },
  async run({ host: name, flags }, world) {
    const { stdio, http, yes } = flags;
    if (stdio && http) throw new UsageError("choose --stdio or --http, not both");
    if (!http && (flags.port !== undefined || flags["token-env"] !== undefined))
      throw new UsageError("--port and --token-env are for --http");
    const { findInstalledHosts } = await import("../../server/installed-hosts.ts");
    const { installStep, stdioConnection, unknownKeys } = await import("../../config/hosts/connection.ts");
    const { planChange, readEntry, writeChange } = await import("../../config/hosts/settings.ts");
    const { whileAlone } = await import("../../config/while-alone.ts");
    const found = await findInstalledHosts(world.folder, world.env, undefined, flags.port);
    const { files, here, state, port } = found;
    if (http && port === 0)
      throw invalid("server.port in the config is 0, so the address changes at every start; choose a fixed port first");
    const ofHost = files.filter((each) => each.host === name);
    const host = ofHost.find((each) => each.scope === (flags.scope ?? each.scope));
    if (!host) throw invalid(`${ofHost[0]!.title} has no settings for the scope ${flags.scope}; leave out --scope`);
    if (http && host.stdioOnly)
      throw invalid(`${host.title} starts servers itself, and its settings take no address; leave out --http`);

    const tokenVariable = flags["token-env"] ?? found.tokenVariable;
    const isTokenChosen = flags["token-env"] !== undefined;
    const connection = http
      ? { kind: "http" as const, url: here.url, tokenVariable, isTokenChosen }
      : stdioConnection(host, here);
    /** Of the entry as it is in the file. */
    const todo = (label: string) => {
      const other = host.scope === "project" ? unknownKeys(readEntry(host) ?? {}) : undefined;
      const look = other && `first look at the entry: it ${other.says}`;
      return [installStep(connection, here), look, host.remains]
        .filter((step) => step !== undefined)
        .map((step) => `${label}: ${plain(step)}.\n`)
        .join("");
    };
    const alone = <T>(work: () => T | Promise<T>) => whileAlone(host.file, state, work);
    const write = (change: SettingsChange) => writeChange(change, join(state, "backups"));

    async function plan(): Promise<SettingsChange | undefined> {
      const change = planChange(host!, connection);
      if (change.after === change.before) {
        await print(
          world.out,
          `${host!.title} is already configured: ${plain(host!.file)}\n${todo("If not done yet")}`,
        );
        return undefined;
      }
      const isNew = change.before === undefined ? " (new)" : "";
      await print(world.out, `${plain(host!.file)}${isNew}\n${shown(change.before ?? "", change.after)}`);
      return change;
    }

    let change: SettingsChange | undefined;
    let backup: string | undefined;
    if (yes) {
      // Inside the lock nobody is asked, so that it is held only briefly.
      change = await alone(async () => {
        const planned = await plan();
        if (planned) backup = write(planned);
        return planned;
      });
      if (!change) return;
    } else {
      const planned = await plan();
      if (!planned) return;
      await confirm(`Write this for ${host.title}?`, yes, world, "nothing was written");
      backup = await alone(() => write(planned));
      change = planned;
    }
    const saved = backup === undefined ? "" : `; the old file is saved as ${plain(backup)}`;
    const token = change.keepsToken
      ? ` The entry keeps its token; --token-env ${tokenVariable} replaces it.`
      : tokenStep(host.host, tokenVariable);
    const next = http ? ` Start the server with "pressmark serve${portFlag(flags.port)}".${token}` : "";
    await print(
      world.out,
      `wrote ${plain(host.file)}${saved}. Restart ${host.title}, or let it reload its settings.${next}\n${todo("Still to do")}`,
    );
  },
});

function portFlag(port: number | undefined): string {
  return port === undefined ? "" : ` --port ${port}`;
}

/** The value is not repeated: it may be the token itself, pasted by mistake. */
function toVariable(text: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(text) || (/[a-z]/.test(text) && isRandom(text)))
    throw new UsageError("takes the name of an environment variable, not the token");
  return text;
}

/** How the host gets the token, if callers must send one. */
function tokenStep(host: HostName, variable: string | undefined): string {
  if (variable === undefined) return "";
  if (host === "vscode") return " VS Code will ask you for the token.";
  if (tokenReference(host, variable))
    return ` The host reads the token from ${variable}: set that variable where the host starts.`;
  return " This host cannot read a token from a variable: add the header Authorization: Bearer to its settings by hand.";
}

function shown(before: string, after: string): string {
  return lineDiff(before, after)
    .split("\n")
    .map((line) => `  ${plain(line)}`.trimEnd())
    .join("\n");
}
