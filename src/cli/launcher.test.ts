/** bin/pressmark.js, in its own package with a command that prints its input. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let base: string;
let root: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "pressmark-launcher-"));
  root = join(base, "pressmark");
  for (const folder of ["bin", "dist"]) mkdirSync(join(root, folder), { recursive: true });
  copyFileSync(join(import.meta.dirname, "../../bin/pressmark.js"), join(root, "bin/pressmark.js"));
  writeFileSync(
    join(root, "package.json"),
    JSON.stringify({ type: "module", version: "9.9.9", engines: { node: ">=22.18" } }),
  );
  writeFileSync(
    join(root, "dist/cli.js"),
    `export async function runProcess({ version }) {
       if (process.argv[2] === "wait") {
         process.on("SIGTERM", () => process.exit(7));
         setInterval(() => {}, 1000);
       }
       console.log(JSON.stringify({ version, words: process.argv.slice(2), node: process.versions.node }));
       process.exitCode = 3;
     }`,
  );
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

/** Moves the package to another place in the folder of the test. */
function installAt(place: string): void {
  const from = root;
  root = join(base, place);
  if (root === from) return;
  mkdirSync(join(root, ".."), { recursive: true });
  renameSync(from, root);
}

/** As the package "node" brings it. */
function bringNode(modules: string): void {
  mkdirSync(join(modules, "node/bin"), { recursive: true });
  symlinkSync(process.execPath, join(modules, "node/bin/node"));
}

/** Runs the launcher under the Node of the tests, which may pretend to be another version. */
function launch(words: readonly string[], { as = process.versions.node } = {}) {
  const preload = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: ${JSON.stringify(as)} } })`;
  return spawn(
    process.execPath,
    ["--import", `data:text/javascript,${encodeURIComponent(preload)}`, join(root, "bin/pressmark.js"), ...words],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
}

async function outcome(child: ReturnType<typeof launch>): Promise<{ code: unknown; out: string; err: string }> {
  const [[code], out, err] = await Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]);
  return { code: code as unknown, out, err };
}

describe("the launcher", () => {
  it("runs the command with the package's version, and passes its exit code on", async () => {
    expect(await outcome(launch(["ls", "a b"]))).toEqual({
      code: 3,
      out: `${JSON.stringify({ version: "9.9.9", words: ["ls", "a b"], node: process.versions.node })}\n`,
      err: "",
    });
  });

  it.each(["20.19.4", "22.17.1"])("hands over from Node %s to the one that the checkout brought", async (as) => {
    bringNode(join(root, "node_modules"));
    expect(await outcome(launch(["x", "--y=z"], { as }))).toEqual({
      code: 3,
      out: `${JSON.stringify({ version: "9.9.9", words: ["x", "--y=z"], node: process.versions.node })}\n`,
      err: "",
    });
  });

  it.each(["22.18.0", "24.0.0", "100.0.0"])("stays with Node %s, which is new enough", async (as) => {
    const { out } = await outcome(launch([], { as }));
    expect(JSON.parse(out)).toMatchObject({ node: as });
  });

  it("passes signals on to the Node that it handed over to", async () => {
    bringNode(join(root, "node_modules"));
    const child = launch(["wait"], { as: "20.0.0" });
    const ended = outcome(child);
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 7, err: "" });
  });

  it("hands over to the Node of the project that it is installed in", async () => {
    installAt("project/node_modules/pressmark");
    bringNode(join(root, ".."));
    const { code, out, err } = await outcome(launch(["a b", "$HOME", '"'], { as: "18.20.8" }));
    expect([code, err]).toEqual([3, ""]);
    expect(JSON.parse(out)).toMatchObject({ words: ["a b", "$HOME", '"'], node: process.versions.node });
  });

  const needs =
    "pressmark: this needs Node 22.18 or newer, and runs under 20.19.4: get one from https://nodejs.org, or run";
  it.each([
    ["a checkout", "pressmark", "in the checkout: npm ci"],
    ["a project", "project/node_modules/pressmark", "in the project: npm install --save-dev node@24"],
    ["npx", "_npx/1/node_modules/pressmark", "npx --package=node@24 --package=pressmark pressmark …"],
    ["a global install", "lib/node_modules/pressmark", "npx --package=node@24 pressmark …"],
  ])("says which Node it needs, and a command that brings one: %s", async (_, place, command) => {
    installAt(place);
    if (place.startsWith("project")) writeFileSync(join(root, "../../package.json"), "{}");
    expect(await outcome(launch([], { as: "20.19.4" }))).toEqual({ code: 1, out: "", err: `${needs} ${command}\n` });
  });

  it("says how to get the Node of a checkout whose install scripts were blocked", async () => {
    mkdirSync(join(root, "node_modules/node"), { recursive: true });
    const { err } = await outcome(launch([], { as: "20.19.4" }));
    expect(err).toBe(`${needs} in the checkout, whose install scripts were blocked: npm rebuild node\n`);
  });

  it("explains how to build the checkout", async () => {
    rmSync(join(root, "dist"), { recursive: true });
    expect(await outcome(launch([]))).toEqual({
      code: 1,
      out: "",
      err: "pressmark: this checkout is not built yet; run npm run build\n",
    });
  });
});
