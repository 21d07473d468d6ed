/** `pressmark stdio`: folders as MCP resources to the host that started the process. */
import { defineCommand, many } from "../command.ts";

export default defineCommand({
  name: "stdio",
  summary: "Serve folders to the host that starts it, over standard input and output",
  more: "Made to be started by a host. Standard output carries the protocol and nothing else; what a person should know goes to standard error.",
  examples: ["claude mcp add pressmark -- pressmark stdio ~/notes"],
  takes: { folder: many("a folder to serve; the current one unless said", "folders") },
  async run({ folder: folders }, { folder, env, version, input, out, err, signal }) {
    const { startStdio } = await import("../../server/start-stdio.ts");
    await startStdio({ folders, from: folder, version, env, input, out, err, signal });
  },
});
