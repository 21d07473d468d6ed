/** What a host does with a server that it has started: initialize, list, read, search. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio";
import { expect } from "vitest";
import { overStdio, visitV2 } from "../interop/sdk-v2.ts";

interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** Starts the command that `commandFor` gives for a folder, and uses it with the official client. */
export async function expectServes(commandFor: (folder: string) => ServerCommand): Promise<void> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-bundle-")));
  try {
    writeFileSync(join(root, "tea.md"), "# Tea\n\nSencha is steamed.\n");
    const { command, args } = commandFor(root);
    const env = { ...getDefaultEnvironment(), HOME: root, PATH: `${join(process.execPath, "..")}:/usr/bin:/bin` };
    await using visitor = await visitV2(overStdio({ command, args: [...args], env }), "auto");
    const uri = pathToFileURL(join(root, "tea.md")).href;
    expect(visitor.server).toBe("pressmark");
    expect((await visitor.pages()).flat()).toContain(uri);
    expect((await visitor.read(uri))[0]?.text).toContain("Sencha is steamed.");
    const search = async () =>
      JSON.stringify(await visitor.client.callTool({ name: "search_resources", arguments: { query: "sencha" } }));
    // Until the index is ready.
    await expect.poll(search, { timeout: 30_000 }).toContain("tea.md");
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  }
}
