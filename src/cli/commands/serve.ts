/** `pressmark serve`: serves folders as MCP resources over HTTP. */
import type { Writable } from "node:stream";
import { defineCommand, flag, listFlag, many, portNumber, textFlag, UsageError, valueFlag } from "../command.ts";
import { type PasteOptions, settingsToPaste } from "../../config/hosts/to-paste.ts";
import { isOrigin } from "../../lib/is-origin.ts";
import { stateFolder, systemPathsOf } from "../../lib/system-paths.ts";
import { logFormatFlag, withLogFormat } from "../log-format.ts";
import { plain, print } from "../print.ts";
import { quote, ResourceError } from "../../errors.ts";
import type { HttpServer } from "../../server/start-http.ts";

export default defineCommand({
  name: "serve",
  summary: "Serve folders as MCP resources over HTTP",
  more: "Serves the named folders, each as its own mount; without any, the mounts of the config, or the current folder. One endpoint serves every MCP revision. Stop it with Ctrl-C. Changes to the config take effect while it runs. With --quiet only the address is printed.",
  examples: ["pressmark serve --open", "pressmark serve docs src --port 8080", "pressmark serve --config team.yaml"],
  takes: {
    folder: many("Folder to serve. Default: the mounts of the config, else the current folder", "folders"),
  },
  flags: {
    config: textFlag("FILE", "Config file to use instead of the nearest one", "files"),
    port: valueFlag("PORT", "Port to listen on; 0 chooses a free one", {
      short: "p",
      initially: "server.port in the config, else 7357",
      parse: portNumber(0),
    }),
    host: valueFlag("ADDRESS", "Address to listen on", {
      initially: "server.host in the config, else 127.0.0.1",
      parse: toHost,
    }),
    "allow-host": listFlag("NAME", "Another host name that clients use for this machine; may be repeated"),
    "allow-origin": listFlag(
      "ORIGIN",
      "Another origin (https://app.example) whose pages may send requests; may be repeated",
    ),
    "token-file": valueFlag("FILE", "File with the token that callers must send; or set PRESSMARK_TOKEN", {
      offer: "files",
      parse: toFile,
    }),
    open: flag("Open the page in the browser"),
    "log-format": logFormatFlag,
    "no-tools": flag("Offer resources only, without the tools that search, list and read them"),
  },
  async run(
    {
      folder: folders,
      flags: {
        config,
        port,
        host,
        "allow-host": allowedHosts,
        "allow-origin": allowedOrigins,
        "token-file": tokenFile,
        open,
        "log-format": logFormat,
        "no-tools": noTools,
      },
    },
    { folder, env, version, out, err, signal, isQuiet },
  ) {
    const wrong = allowedOrigins.find((origin) => !isOrigin(origin));
    if (wrong !== undefined)
      throw new UsageError(`--allow-origin takes an origin, such as https://app.example, not ${quote(wrong, 60)}`);
    const [{ startHttp }, { limitHeapGrowth }] = await Promise.all([
      import("../../server/start-http.ts"),
      import("../../lib/v8-memory.ts"),
    ]);
    const tools = noTools ? false : undefined;
    const names = { host, port, allowedHosts, allowedOrigins };
    const options = {
      folders,
      config,
      from: folder,
      ...names,
      tokenFile,
      version,
      tools,
      err,
      env: withLogFormat(env, logFormat),
    };
    const server = await startHttp(options).catch((cause: unknown) => {
      throw withFlagHint(cause);
    });
    limitHeapGrowth();
    let redirect: { readonly url: string; remove(): void } | undefined;
    try {
      const mounts = server.mounts
        .map(({ name, title, base }) => `  ${plain(name)}  ${base}${title === undefined ? "" : `  ${plain(title)}`}`)
        .join("\n");
      const { url, tokenVariable, forHosts, card } = server;
      const found = card === undefined ? "" : `\nServer card, for clients that look for servers: ${card}\n`;
      const address = server.invite();
      if (tokenVariable !== undefined) inviteAgain(server, out, signal);
      await print(
        out,
        isQuiet
          ? `${url}\n`
          : `Pressmark ${version} serves at ${url} (stop with Ctrl-C)\n${mounts}\n\n${invitation(server, address)}\n${hostSettings(forHosts)}${found}`,
      );
      if (open) {
        const { openBrowser, writeRedirect } = await import("../../server/open-browser.ts");
        const failed = (reason: string) =>
          err.write(`pressmark: no browser was opened (${reason}); open this address: ${address}\n`);
        // The address has a code if there is a token.
        if (tokenVariable !== undefined) redirect = writeRedirect(address, stateFolder(systemPathsOf(env)));
        openBrowser(redirect?.url ?? address, { env, avoid: [folder], failed });
      }
      if (server.everyoneIsOwner && !isQuiet) {
        const { countUsers } = await import("../../server/machine-users.ts");
        await print(out, ownerNotice(countUsers()));
      }
      if (tokenVariable === undefined && !server.loopback)
        await print(
          err,
          `pressmark: anyone who can reach ${server.host === "0.0.0.0" || server.host === "::" ? "this machine" : server.host} can read everything that is served; leave out --host to serve only this machine, or require a token with --token-file\n`,
        );
      if (!signal.aborted) await new Promise((stopped) => signal.addEventListener("abort", stopped, { once: true }));
    } finally {
      redirect?.remove();
      await server.close();
    }
  },
});

/** What it means that no token is required. */
export function ownerNotice(users: number): string {
  const notice = "\nNo token is required: everyone on this machine who can connect is the owner.\n";
  if (users < 2) return notice;
  return `${notice}This machine has ${users} users. To admit only those who have a token, make one, and start with --token-file:\n  (umask 077; openssl rand -hex 32 > ~/.pressmark-token)\n  pressmark serve --token-file ~/.pressmark-token\n`;
}

function invitation(server: HttpServer, address: string): string {
  // Windows has no such signal.
  const isOnce = server.tokenVariable !== undefined && process.platform !== "win32";
  const again = !isOnce ? "" : `  (once; kill -USR2 ${process.pid} prints another)\n`;
  return `Browse, search and choose in a browser: ${address}\n${again}`;
}

/** Prints a new address on SIGUSR2: its code is valid for one browser and a short time. */
function inviteAgain(server: HttpServer, out: Writable, signal: AbortSignal): void {
  const say = () => void print(out, invitation(server, server.invite()));
  process.on("SIGUSR2", say);
  signal.addEventListener("abort", () => process.off("SIGUSR2", say), { once: true });
}

function hostSettings(options: PasteOptions): string {
  const rows = settingsToPaste(options).map(
    ({ host, file, text }) => `  ${host.padEnd(11)}  ${file === undefined ? text : `${file.padEnd(21)}  ${text}`}\n`,
  );
  return `Add it to your host (for others: pressmark help add):\n${rows.join("")}`;
}

/** Adds the flag to the server's error about its port. */
function withFlagHint(cause: unknown): unknown {
  if (!(cause instanceof ResourceError)) return cause;
  const { code, port } = (cause.cause ?? {}) as NodeJS.ErrnoException & { readonly port?: number };
  if (code !== "EADDRINUSE") return cause;
  const message = `port ${port} is in use by another program, perhaps another pressmark; choose a port with --port, or a free one with --port 0`;
  return new ResourceError(cause.kind, message, { cause });
}

function toFile(text: string): string {
  if (text === "") throw new UsageError("takes the path of a file");
  return text;
}

function toHost(text: string): string {
  if (text === "") throw new UsageError("takes an address of this machine, such as 127.0.0.1 or 0.0.0.0");
  return text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
}
