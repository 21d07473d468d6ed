/** `pressmark serve`: folders as MCP resources over HTTP. */
import type { Writable } from "node:stream";
import { defineCommand, flag, listFlag, many, UsageError, valueFlag } from "../command.ts";
import { hostSettings } from "../host-settings.ts";
import { configFlag } from "../config-flag.ts";
import { plain, print } from "../print.ts";
import { quote, ResourceError } from "../../errors.ts";
import type { HttpServer } from "../../server/start-http.ts";

export default defineCommand({
  name: "serve",
  summary: "Serve folders as MCP resources over HTTP",
  more: "Serves what the config says, or the current folder, unless folders are named, each as a mount of its own, to every MCP revision on one endpoint, until it is stopped with Ctrl-C. A change of the config takes effect while it runs.",
  examples: ["pressmark serve", "pressmark serve docs src --port 8080", "pressmark serve --config team.yaml"],
  takes: {
    folder: many("a folder to serve; what the config says, or the current one, unless said", "folders"),
  },
  flags: {
    config: configFlag,
    port: valueFlag<number | undefined>("PORT", "the port to listen on; 0 takes any free one", {
      short: "p",
      initial: undefined,
      initially: "7357, or what the config says,",
      parse: toPort,
    }),
    host: valueFlag<string | undefined>("ADDRESS", "the address to listen on", {
      initial: undefined,
      initially: "127.0.0.1, or what the config says,",
      parse: toHost,
    }),
    "allow-host": listFlag("NAME", "another name that clients know this machine by; may be given again"),
    "token-file": valueFlag<string | undefined>(
      "FILE",
      "a file with the token that callers must send; or set PRESSMARK_TOKEN",
      { initial: undefined, offer: "files", parse: toFile },
    ),
    "no-tools": flag("offer resources alone, and no tools to search, list and read them by"),
  },
  async run(
    {
      folder: folders,
      flags: { config, port, host, "allow-host": allowedHosts, "token-file": tokenFile, "no-tools": noTools },
    },
    { folder, env, version, out, err, signal },
  ) {
    const [{ startHttp }, { limitHeapGrowth }] = await Promise.all([
      import("../../server/start-http.ts"),
      import("../../server/limit-heap-growth.ts"),
    ]);
    const tools = noTools ? false : undefined;
    const options = { folders, config, from: folder, host, port, allowedHosts, tokenFile, version, tools, env, err };
    const server = await startHttp(options).catch((cause: unknown) => {
      throw sayWhichFlag(cause);
    });
    limitHeapGrowth();
    try {
      const mounts = server.mounts.map(({ name, base }) => `  ${plain(name)}  ${base}`).join("\n");
      const { url, tokenVariable } = server;
      if (tokenVariable !== undefined) inviteAgain(server, out, signal);
      await print(
        out,
        `Pressmark ${version} serves at ${url} (Ctrl-C stops)\n${mounts}\n\n${invitation(server)}\n${hostSettings({ url, tokenVariable })}`,
      );
      if (tokenVariable === undefined && !server.loopback)
        await print(
          err,
          `pressmark: anyone who can reach ${server.host === "0.0.0.0" || server.host === "::" ? "this machine" : server.host} may read what is served; leave --host out to serve this machine alone, or ask for a token with --token-file\n`,
        );
      if (!signal.aborted) await new Promise((stopped) => signal.addEventListener("abort", stopped, { once: true }));
    } finally {
      await server.close();
    }
  },
});

function invitation(server: HttpServer): string {
  const again = server.tokenVariable === undefined ? "" : `  (once; kill -USR2 ${process.pid} prints another)\n`;
  return `See, search and choose in a browser: ${server.invite()}\n${again}`;
}

/** An address with a code is good for one browser, and not for long. */
function inviteAgain(server: HttpServer, out: Writable, signal: AbortSignal): void {
  const say = () => void print(out, invitation(server));
  process.on("SIGUSR2", say);
  signal.addEventListener("abort", () => process.off("SIGUSR2", say), { once: true });
}

/** The server says what is wrong with a port; here it has a flag. */
function sayWhichFlag(cause: unknown): unknown {
  if (!(cause instanceof ResourceError)) return cause;
  const { code, port } = (cause.cause ?? {}) as NodeJS.ErrnoException & { readonly port?: number };
  if (code !== "EADDRINUSE") return cause;
  const message = `port ${port} is taken by another program, perhaps another pressmark; choose one with --port, or let --port 0 take a free one`;
  return new ResourceError(cause.kind, message, { cause });
}

function toPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new UsageError(`takes a number from 0 to 65535, not ${quote(text, 40)}`);
  return port;
}

function toFile(text: string): string {
  if (text === "") throw new UsageError("takes the path of a file");
  return text;
}

function toHost(text: string): string {
  if (text === "") throw new UsageError("takes an address of this machine, such as 127.0.0.1 or 0.0.0.0");
  return text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
}
