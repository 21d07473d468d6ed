#!/usr/bin/env node
// Starts the command under a Node that can run it. Written for any Node from 18 on, so that an older one is told what it lacks.
import { basename, dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

// Importing `node:fs` as a module loads its lazy parts too, which takes longer than everything else in this file.
const builtin = (name) => process.getBuiltinModule?.(name) ?? import(name);
const { accessSync, constants, existsSync, readFileSync } = await builtin("node:fs");

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { version, engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const needed = engines.node.replace(">=", "");
/** The major version of Node that an error suggests: one with long-term support. */
const suggested = 24;

if (!isEnough(process.versions.node)) await handOver();
else if (!existsSync(join(root, "dist", "cli.js"))) fail("this checkout is not built yet; run npm run build");
else {
  if (process.argv[2] === "serve") limitArenas();
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

/**
 * The C library of Linux reserves memory for each thread, and keeps it: 30 MB more for a server that indexes. It reads the limit when a program
 * starts, so the process replaces itself (docs/decisions/054-arenas.md).
 */
function limitArenas() {
  const { env, execPath, execArgv, argv, platform, execve } = process;
  // A channel to the parent process would be lost.
  if (platform !== "linux" || !execve || process.send || env.MALLOC_ARENA_MAX || env.PRESSMARK_V8_DEFAULTS) return;
  try {
    // Node aborts if its file cannot be run.
    accessSync(execPath, constants.X_OK);
    execve(execPath, [execPath, ...execArgv, ...argv.slice(1)], { ...env, MALLOC_ARENA_MAX: "1" });
  } catch {
    // Everything works without the limit, too.
  }
}

/** A checkout brings a Node of its own among its development dependencies; so may the project that this is installed in. */
async function handOver() {
  // The program itself: what npm puts into `.bin` on Windows is a script, which only a shell can run.
  const program = join("node", "bin", process.platform === "win32" ? "node.exe" : "node");
  const own = [join(root, "node_modules"), dirname(root)].map((folder) => join(folder, program)).find(existsSync);
  const advice = `this needs Node ${needed} or newer, and runs under ${process.versions.node}: get one from https://nodejs.org, or run ${commandForNode()}`;
  if (process.env.PRESSMARK_HANDED_OVER || !own) return fail(advice);

  const { spawn } = await builtin("node:child_process");
  const { signals } = (await builtin("node:os")).constants;
  const child = spawn(own, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: "inherit",
    env: { ...process.env, PRESSMARK_HANDED_OVER: "1" },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", () => fail(advice));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (signals[signal] ?? 0)));
}

/** A command that provides a Node which can run this, by how Pressmark was installed. */
function commandForNode() {
  const modules = dirname(root);
  if (basename(modules) !== "node_modules")
    return existsSync(join(root, "node_modules", "node"))
      ? "in the checkout, whose install scripts were blocked: npm rebuild node"
      : "in the checkout: npm ci";
  if (root.split(sep).includes("_npx")) return `npx --package=node@${suggested} --package=pressmark pressmark …`;
  // The folder of global packages belongs to no project.
  if (existsSync(join(dirname(modules), "package.json")))
    return `in the project: npm install --save-dev node@${suggested}`;
  return `npx --package=node@${suggested} pressmark …`;
}

function fail(sentence) {
  process.stderr.write(`pressmark: ${sentence}\n`);
  process.exitCode = 1;
}
