#!/usr/bin/env node
// Starts the command under a Node that can run it. Written for any Node from 18 on, so that an older one is told what it lacks.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

// Importing `node:fs` as a module loads its lazy parts too, which takes longer than everything else in this file.
const builtin = (name) => process.getBuiltinModule?.(name) ?? import(name);
const { existsSync, readFileSync } = await builtin("node:fs");

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { version, engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const needed = engines.node.replace(">=", "");

if (!isEnough(process.versions.node)) await handOver();
else if (!existsSync(join(root, "dist", "cli.js"))) fail("this checkout is not built yet; run npm run build");
else {
  // Compiled code is kept between runs.
  (await builtin("node:module")).enableCompileCache();
  const { runProcess } = await import("../dist/cli.js");
  await runProcess({ version });
}

function isEnough(running) {
  const [major, minor] = running.split(".").map(Number);
  const [least, leastMinor] = needed.split(".").map(Number);
  return major > least || (major === least && minor >= leastMinor);
}

/** A checkout brings a Node of its own among its development dependencies; so may the project that this is installed in. */
async function handOver() {
  const name = process.platform === "win32" ? "node.cmd" : "node";
  const places = [join(root, "node_modules", ".bin", name), join(dirname(root), ".bin", name)];
  const own = places.find((place) => existsSync(place));
  const advice = `this needs Node ${needed} or newer, and runs under ${process.versions.node}: get one from https://nodejs.org, or run npm ci in the checkout, which brings one`;
  if (process.env.PRESSMARK_HANDED_OVER || !own) return fail(advice);

  const { spawn } = await builtin("node:child_process");
  const { constants } = await builtin("node:os");
  const child = spawn(own, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: "inherit",
    env: { ...process.env, PRESSMARK_HANDED_OVER: "1" },
    shell: process.platform === "win32",
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", () => fail(advice));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

function fail(sentence) {
  process.stderr.write(`pressmark: ${sentence}\n`);
  process.exitCode = 1;
}
