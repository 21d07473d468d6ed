/** The MCPB bundle: built, checked and unpacked by the official tool, and started as a host does. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { buildMcpb } from "../../../scripts/build-mcpb.ts";
import { expectServes } from "../../bundles/visit-server.ts";
import { importPeer, installPeers, modulesOf, type Peers } from "../install-peers.ts";

const peers: Peers = { folder: "mcpb", packages: ["@anthropic-ai/mcpb@2.1.2"], runsScripts: false };
const missing = installPeers(peers);
const mcpb = join(modulesOf(peers), ".bin/mcpb");

interface Mcpb {
  getMcpConfigForManifest(options: object): Promise<{ readonly command: string; readonly args: string[] } | undefined>;
}

describe.skipIf(missing !== undefined)(`MCPB ${missing ?? ""}`, () => {
  it("is valid, and serves the chosen folders when it is unpacked and started by its manifest", async () => {
    const folder = mkdtempSync(join(tmpdir(), "pressmark-mcpb-"));
    try {
      const file = buildMcpb({ to: folder, pack: [mcpb] });
      expect(statSync(file).size).toBeLessThan(5_000_000);
      const unpacked = join(folder, "unpacked");
      execFileSync(mcpb, ["unpack", file, unpacked], { stdio: "ignore" });
      expect(execFileSync(mcpb, ["validate", unpacked], { encoding: "utf8" })).toContain("validation passes");
      expect(readdirSync(unpacked).sort()).toEqual(["icon.png", "manifest.json", "server"]);
      const manifest = JSON.parse(readFileSync(join(unpacked, "manifest.json"), "utf8")) as object;
      const { getMcpConfigForManifest } = (await importPeer(peers, "@anthropic-ai/mcpb")) as Mcpb;
      const configFor = (folders: readonly string[]) =>
        getMcpConfigForManifest({
          manifest,
          extensionPath: unpacked,
          systemDirs: {},
          userConfig: { folders },
          pathSeparator: "/",
        });
      expect(await configFor([])).toBeUndefined();
      const { command, args } = (await configFor(["FOLDER"]))!;
      await expectServes((served) => ({ command, args: args.map((word) => (word === "FOLDER" ? served : word)) }));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
