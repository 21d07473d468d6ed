/** The whole life of an install, as docs/install.md shows it. */
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "vitest";
import { createInstallFolder, type InstallFolder, installLines, version } from "./install-page.ts";

/** What the lines of an install print, among others. */
const printed = new RegExp(`^pressmark ${version.replaceAll(".", "\\.")}\n[^]*kettle\\.md`, "m");

export async function checkGlobalInstall(node?: string): Promise<void> {
  await using place = createInstallFolder(node);
  expect(await place.run(installLines.global)).toMatch(printed);
  await checkProtocol(place, "pressmark stdio");
  expect(await place.run("command -v pressmark")).toContain("/prefix/bin/pressmark");
  await place.run(installLines.removeGlobal);
  await expect(place.run("command -v pressmark")).rejects.toThrow();
  for (const folder of [".local/state/pressmark", ".cache/pressmark"])
    mkdirSync(join(place.home, folder), { recursive: true });
  await place.run(installLines.removeFolders);
  expect(existsSync(join(place.home, ".local/state/pressmark"))).toBe(false);
  expect(existsSync(join(place.home, ".cache/pressmark"))).toBe(false);
}

/** Returns the size of the installed packages. */
export async function checkLocalInstall(node?: string): Promise<{ bytes: number; onDisk: number }> {
  await using place = createInstallFolder(node);
  expect(await place.run(installLines.local)).toMatch(printed);
  await checkProtocol(place, "npx pressmark stdio");
  const size = sizeOf(join(place.folder, "node_modules"));
  await place.run(installLines.removeLocal);
  expect(existsSync(join(place.folder, "node_modules/pressmark"))).toBe(false);
  return size;
}

async function checkProtocol(place: InstallFolder, command: string): Promise<void> {
  const clientInfo = { name: "test", version: "1" };
  const uri = pathToFileURL(join(place.folder, "kettle.md")).href;
  const [initialized, listed, read, found] = await place.request(command, [
    { method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } },
    { method: "resources/list" },
    { method: "resources/read", params: { uri } },
    {
      method: "tools/call",
      params: { name: "search_resources", arguments: { query: "hundred degrees" } },
      until: isIndexed,
    },
  ]);
  expect(initialized).toMatchObject({ protocolVersion: "2025-11-25", serverInfo: { version } });
  expect(listed).toMatchObject({ resources: expect.arrayContaining([expect.objectContaining({ uri })]) });
  expect(read).toMatchObject({ contents: [{ uri, text: expect.stringContaining("# Kettle") }] });
  expect(JSON.stringify(found)).toContain(uri);
}

/** Whether a search was not made before everything was indexed. */
function isIndexed(result: unknown): boolean {
  const { ready } = (result as { readonly structuredContent?: { readonly ready?: number } }).structuredContent ?? {};
  return ready === undefined || ready === 1;
}

/** As `du` counts with blocks of 4 KiB, and the bytes in the files alone. */
function sizeOf(folder: string): { bytes: number; onDisk: number } {
  const block = 4096;
  let bytes = 0;
  let onDisk = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const stats = statSync(join(folder, name));
    if (stats.isFile()) bytes += stats.size;
    onDisk += stats.isFile() ? Math.ceil(stats.size / block) * block : block;
  }
  return { bytes, onDisk };
}
