/** `pressmark stdio`: serves folders as MCP resources over standard input and output. */
import { defineCommand, flag, many, textFlag, UsageError } from "../command.ts";
import { logFormatFlag, withLogFormat } from "../log-format.ts";

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
    project: flag(
      "Serve the project: the nearest folder with a config, from the current one upwards; else the root of the git repository; else the current folder",
    ),
    "log-format": logFormatFlag,
    "no-tools": flag("Offer resources only, without the tools that search, list and read them"),
  },
  async run(
    { folder: folders, flags: { config, project, "log-format": logFormat, "no-tools": noTools } },
    { folder, env: given, version, input, out, err, signal },
  ) {
    if (project && (config !== undefined || folders.length > 0))
      throw new UsageError("use folders, --config or --project, not more than one of these");
    const env = withLogFormat(given, logFormat);
    const { startStdio } = await import("../../server/start-stdio.ts");
    const tools = noTools ? false : undefined;
    let from = folder;
    if (project) {
      const { findProject } = await import("../../config/find-config.ts");
      const { homeFolder } = await import("../../lib/system-paths.ts");
      from = findProject(folder, homeFolder(env));
    }
    await startStdio({ folders, config, from, version, tools, env, input, out, err, signal });
  },
});
