/** `pressmark stdio`: serves folders as MCP resources over standard input and output. */
import { defineCommand, flag, many, textFlag } from "../command.ts";

export default defineCommand({
  name: "stdio",
  summary: "Serve folders to a host over standard input and output",
  more: "A host starts this command. Standard output carries only the protocol; messages for people go to standard error.",
  examples: ["claude mcp add pressmark -- pressmark stdio ~/notes"],
  takes: {
    folder: many("Folder to serve. Default: the mounts of the config, else the current folder", "folders"),
  },
  flags: {
    config: textFlag("FILE", "Config file to use instead of the nearest one", "files"),
    "no-tools": flag("Offer resources only, without the tools that search, list and read them"),
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
