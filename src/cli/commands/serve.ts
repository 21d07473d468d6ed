/** `pressmark serve`: folders as MCP resources over HTTP. */
import { defineCommand, listFlag, many, UsageError, valueFlag } from "../command.ts";
import { hostSettings } from "../host-settings.ts";
import { plain, print } from "../print.ts";
import { quote, ResourceError } from "../../errors.ts";

export default defineCommand({
  name: "serve",
  summary: "Serve folders as MCP resources over HTTP",
  more: "Serves the current folder unless others are named, each as a mount of its own, to every MCP revision on one endpoint, until it is stopped with Ctrl-C.",
  examples: ["pressmark serve", "pressmark serve docs src --port 8080"],
  takes: { folder: many("a folder to serve; the current one unless said", "folders") },
  flags: {
    port: valueFlag("PORT", "the port to listen on; 0 takes any free one", {
      short: "p",
      initial: 7357,
      initially: "7357",
      parse: toPort,
    }),
    host: valueFlag("ADDRESS", "the address to listen on", {
      initial: "127.0.0.1",
      initially: "127.0.0.1",
      parse: toHost,
    }),
    "allow-host": listFlag("NAME", "another name that clients know this machine by; may be given again"),
  },
  async run(
    { folder: folders, flags: { port, host, "allow-host": allowedHosts } },
    { folder, env, version, out, err, signal },
  ) {
    const { startServer } = await import("../../server/start-server.ts");
    const options = { folders, from: folder, host, port, allowedHosts, version, env, err };
    const server = await startServer(options).catch((cause: unknown) => {
      throw sayWhichFlag(cause, port);
    });
    try {
      const mounts = server.mounts.map(({ name, base }) => `  ${plain(name)}  ${base}`).join("\n");
      await print(
        out,
        `Pressmark ${version} serves at ${server.url} (Ctrl-C stops)\n${mounts}\n\n${hostSettings(server.url)}`,
      );
      if (!server.loopback)
        await print(
          err,
          `pressmark: anyone who can reach ${host === "0.0.0.0" || host === "::" ? "this machine" : host} may read what is served; leave --host out to serve this machine alone\n`,
        );
      if (!signal.aborted) await new Promise((stopped) => signal.addEventListener("abort", stopped, { once: true }));
    } finally {
      await server.close();
    }
  },
});

/** The server says what is wrong with a port; here it has a flag. */
function sayWhichFlag(cause: unknown, port: number): unknown {
  if (!(cause instanceof ResourceError) || (cause.cause as NodeJS.ErrnoException | undefined)?.code !== "EADDRINUSE")
    return cause;
  const message = `port ${port} is taken by another program, perhaps another pressmark; choose one with --port, or let --port 0 take a free one`;
  return new ResourceError(cause.kind, message, { cause });
}

function toPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new UsageError(`takes a number from 0 to 65535, not ${quote(text, 40)}`);
  return port;
}

function toHost(text: string): string {
  if (text === "") throw new UsageError("takes an address of this machine, such as 127.0.0.1 or 0.0.0.0");
  return text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
}
