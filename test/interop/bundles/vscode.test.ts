/** The VS Code extension: type-checked against VS Code's types, packaged by its own tool, and the packaged panel in a browser with a real server. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildExtension } from "../../../editors/vscode/build.ts";
import { panelPage } from "../../../editors/vscode/src/panel-page.ts";
import { parseFromPage, type ToPage } from "../../../editors/vscode/src/panel-messages.ts";
import { createServerRelay } from "../../../editors/vscode/src/server-relay.ts";
import { chromiumPath, hasBrowser } from "../../picker/browser.ts";
import { installPeers, modulesOf, type Peers } from "../install-peers.ts";

const root = join(import.meta.dirname, "../../..");
const extension = join(root, "editors/vscode");
const manifest = JSON.parse(readFileSync(join(extension, "package.json"), "utf8")) as {
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
};
const packages = Object.entries(manifest.devDependencies).map(([name, version]) => `${name}@${version}`);
const peers: Peers = { folder: "vscode", packages, runsScripts: false };
const missing = installPeers(peers);
const modules = modulesOf(peers);

describe.skipIf(missing !== undefined)(`The VS Code extension ${missing ?? ""}`, () => {
  let folder: string;
  let unpacked: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "pressmark-vsix-"));
    const stage = join(folder, "stage");
    unpacked = join(folder, "unpacked");
    mkdirSync(stage);
    for (const file of ["package.json", "README.md", ".vscodeignore"]) cpSync(join(extension, file), join(stage, file));
    await buildExtension(stage);
    const vsix = join(folder, "pressmark.vsix");
    execFileSync(join(modules, ".bin/vsce"), ["package", "--no-dependencies", "--out", vsix], {
      cwd: stage,
      stdio: "pipe",
    });
    execFileSync("unzip", ["-q", vsix, "-d", unpacked]);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("has the types of the oldest VS Code that it supports", () => {
    const config = join(folder, "tsconfig.json");
    const paths = { vscode: [join(modules, "@types/vscode/index.d.ts")] };
    const include = ["src", "test", "build.ts"].map((part) => join(extension, part));
    const typeRoots = [join(root, "node_modules/@types")];
    writeFileSync(
      config,
      JSON.stringify({ extends: join(extension, "tsconfig.json"), compilerOptions: { paths, typeRoots }, include }),
    );
    const { stdout } = spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", config], {
      encoding: "utf8",
    });
    expect(stdout).toBe("");
  });

  it("is packaged with what it needs and nothing else", () => {
    const files = readdirSync(join(unpacked, "extension"), { recursive: true, encoding: "utf8" }).sort();
    expect(files).toEqual([
      "LICENSE.txt",
      "dist",
      "dist/extension.cjs",
      "dist/panel.css",
      "dist/panel.js",
      "dist/third-parties.md",
      "icon.png",
      "package.json",
      "readme.md",
    ]);
    expect(readFileSync(join(unpacked, "extension.vsixmanifest"), "utf8")).toContain(`Version="${manifest.version}"`);
    // VS Code provides this module alone.
    const script = readFileSync(join(unpacked, "extension/dist/extension.cjs"), "utf8");
    const required = [...script.matchAll(/require\([`"']([^`"']+)[`"']\)/g)].map(([, name]) => name!);
    expect(required.filter((name) => !name.startsWith("node:") && !builtinModules.includes(name))).toEqual(["vscode"]);
  });

  it.skipIf(!hasBrowser)(
    "shows the project in its panel, by its own policy, and passes on what was chosen",
    async () => {
      const served = join(folder, "served");
      mkdirSync(served);
      writeFileSync(join(served, "tea.md"), "# Tea\n\nSencha is steamed.\n");
      const browser = await chromium.launch({ executablePath: chromiumPath });
      const page = await browser.newPage();
      const chosen: unknown[] = [];
      const relay = createServerRelay({
        create: () =>
          new StdioClientTransport({
            command: process.execPath,
            args: [join(root, "bin/pressmark.js"), "stdio", "--project"],
            cwd: served,
            env: { HOME: folder, PATH: process.env["PATH"] ?? "" },
          }),
        post: (message: ToPage) => void page.evaluate(`window.postMessage(${JSON.stringify(message)})`).catch(() => {}),
        failed: (reason) => chosen.push(reason),
      });
      try {
        // The client needs a secure context, as a webview is.
        const origin = "https://panel.example";
        const address = (name: string) => `${origin}/${name}`;
        await page.route(`${origin}/**`, (route) => {
          const name = new URL(route.request().url()).pathname.slice(1);
          if (name === "")
            return route.fulfill({
              contentType: "text/html",
              body: panelPage({
                source: origin,
                script: address("panel.js"),
                style: address("panel.css"),
                language: "en",
              }),
            });
          return route.fulfill({ path: join(unpacked, "extension/dist", name) });
        });
        const troubles: string[] = [];
        page.on("console", (message) => message.type() === "error" && troubles.push(message.text()));
        page.on("pageerror", (error) => troubles.push(error.message));
        await page.exposeFunction("toExtension", (value: unknown) => {
          const message = parseFromPage(value);
          if (message?.kind === "choose") chosen.push(...message.uris);
          else if (message) void relay.receive(message);
        });
        await page.addInitScript(
          "window.acquireVsCodeApi = () => ({ postMessage: (message) => toExtension(message) })",
        );
        await page.goto(`${origin}/`);
        const search = page.getByRole("combobox").first();
        await search.fill("sencha");
        await page.getByText("Sencha is steamed.").waitFor();
        await search.press("Control+Enter");
        await page.getByRole("button", { name: /^Use these/ }).click();
        await expect.poll(() => chosen).toEqual([expect.stringMatching(/\/served\/tea\.md/)]);
        expect(troubles).toEqual([]);
      } finally {
        await browser.close();
        await relay.close();
      }
    },
  );
});
