/** `pressmark stdio`: folders as MCP resources to the host that started the process. */
import { defineCommand, flag, many } from "../command.ts";
import { configFlag } from "../config-flag.ts";

export default defineCommand({
  name: "stdio",
  summary: "Serve folders to the host that starts it, over standard input and output",
  more: "Made to be started by a host. Standard output carries the protocol and nothing else; what a person should know goes to standard error.",
  examples: ["claude mcp add pressmark -- pressmark stdio ~/notes"],
  takes: {
    folder: many("a folder to serve; what the config says, or the current one, unless said", "folders"),
  },
  flags: {
    config: configFlag,
    "no-tools": flag("offer resources alone, and no tools to search, list and read them by"),
  },
  async run(
    { folder: folders, flags: { config, "no-tools": noTools } },
    { folder, env, version, input, out, err, signal },
  ) {
    const { startStdio } = await import("../../server/start-stdio.ts");
    const tools = noTools ? false : undefined;
    await startStdio({ folders, config, from: folder, version, tools, env, input, out, err, signal });
  },
});
