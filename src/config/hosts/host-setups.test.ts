import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isClientOf } from "./host-clients.ts";
import { hostSetups } from "./host-setups.ts";

const url = "http://127.0.0.1:7357/mcp";

it("every host has a way over HTTP, and on this machine a way over stdio", () => {
  const home = mkdtempSync(join(tmpdir(), "pressmark-setups-"));
  const stdio = { words: ["/my docs"], env: { HOME: home, PATH: "" }, program: "/opt/pressmark/bin/pressmark.js" };
  const setups = hostSetups({ url, stdio });
  rmSync(home, { recursive: true });
  const of = (name: string) => setups.find(({ host }) => host === name);
  expect(of("Codex")?.stdio?.text).toBe(
    `codex mcp add pressmark -- ${process.execPath} /opt/pressmark/bin/pressmark.js stdio '/my docs'`,
  );
  const entry = { command: process.execPath, args: ["/opt/pressmark/bin/pressmark.js", "stdio", "/my docs"] };
  expect(JSON.parse(of("Cursor")!.stdio!.text)).toEqual({ mcpServers: { pressmark: entry } });
  expect(JSON.parse(of("VS Code")!.stdio!.text)).toEqual({ servers: { pressmark: { type: "stdio", ...entry } } });
  const [link] = of("VS Code")!.stdio!.links!;
  expect(JSON.parse(decodeURIComponent(link!.url.split("?")[1]!))).toEqual({
    name: "pressmark",
    type: "stdio",
    ...entry,
  });
  expect(of("Claude Desktop")).toMatchObject({ stdio: { kind: "settings" } });
  expect(of("Claude Desktop")).not.toHaveProperty("http");
  expect(setups.filter(({ http }) => http).map(({ host }) => host)).toEqual(
    hostSetups({ url }).map(({ host }) => host),
  );
  expect(hostSetups({ url }).some((setup) => setup.stdio)).toBe(false);
});

it("hosts are recognised by the names of their clients", () => {
  expect(isClientOf("Claude Code", "claude-code")).toBe(true);
  expect(isClientOf("Claude Code", "claude-ai")).toBe(false);
  expect(isClientOf("VS Code", "Visual Studio Code - Insiders")).toBe(true);
});
