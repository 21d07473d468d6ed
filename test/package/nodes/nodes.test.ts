/** docs/install.md under every Node that it names, and what older ones say. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { installPeers, modulesOf } from "../../interop/install-peers.ts";
import { checkGlobalInstall, checkLocalInstall } from "../check-install.ts";
import { createInstallFolder, installLines } from "../install-page.ts";

const page = readFileSync(new URL("../../../docs/install.md", import.meta.url), "utf8");
const tested = /^Tested with Node (.*?)\.\s/m.exec(page)![1]!.match(/\d+\.\d+\.\d+/g)!;
const tooOld = ["18.20.8", "20.20.2"];

/** The package with the program alone, which needs no install script. */
const ofPlatform = `node${process.platform === "darwin" && process.arch === "arm64" ? "-bin" : ""}-${process.platform}-${process.arch}`;
const peers = {
  folder: "nodes",
  packages: [...tested, ...tooOld].map((version) => `node-${version}@npm:${ofPlatform}@${version}`),
  runsScripts: false,
};
const missing = installPeers(peers);
const nodeOf = (version: string) => join(modulesOf(peers), `node-${version}`, "bin", "node");

describe.skipIf(missing !== undefined)(`Node of other versions (skipped: ${missing ?? "no"})`, () => {
  it.each(tested)("%s: the lines of the page work, and what they install serves", async (version) => {
    const { stdout } = await promisify(execFile)(nodeOf(version), ["--version"]);
    expect(stdout).toBe(`v${version}\n`);
    await checkGlobalInstall(nodeOf(version));
    await checkLocalInstall(nodeOf(version));
  });

  it.each(tooOld)("%s, installed globally, is told what to run", async (version) => {
    await using place = createInstallFolder(nodeOf(version));
    await place.run(installLines.global?.split("\n")[0]);
    await expect(place.run("pressmark --version")).rejects.toMatchObject({
      code: 1,
      stderr: `pressmark: this needs Node 22.18 or newer, and runs under ${version}: get one from https://nodejs.org, or run npx --package=node@24 pressmark …\n`,
    });
  });

  it("20.20.2 in a project works after the command that the error names", async () => {
    await using place = createInstallFolder(nodeOf("20.20.2"));
    await place.run(installLines.local?.split("\n")[0]);
    const { stderr } = await place.run("npx pressmark --version").then(
      () => expect.unreachable(),
      (cause: { readonly stderr: string }) => cause,
    );
    const command = /in the project: (npm install --save-dev node@\d+)$/m.exec(stderr)?.[1];
    await place.run(command);
    expect(await place.run("npx pressmark --version")).toMatch(/^pressmark /);
  });
});
