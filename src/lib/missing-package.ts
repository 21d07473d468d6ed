/** Says how to install a package that is missing. */
import { existsSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { packageFolder } from "./package-folder.ts";

export { isPackageMissing } from "./is-package-missing.ts";

const needed = new Set<string>();

/** Packages that were missing so far in this process. */
export function neededPackages(): readonly string[] {
  return [...needed];
}

/** `the source "redis" needs the package "ioredis"; run: npm install --global ioredis` */
export function packageNeeded(needs: string, name: string): string {
  needed.add(name);
  return `${needs} the package "${name}"; ${installAdvice(name)}`;
}

/** How to install a package so that Pressmark finds it, by how Pressmark itself was installed. Contains no path: callers may see it. */
export function installAdvice(name: string, folder = packageFolder()): string {
  if (folder === process.execPath) return `run in the folder of the executable: npm install ${name}`;
  const command = installCommand([name], folder);
  if (command === undefined)
    return folder.split(sep).includes("_npx")
      ? `run: npx --package=pressmark --package=${name} pressmark …`
      : "run in Pressmark's checkout: npm install";
  return `${command.project === undefined ? "run" : "run in the project"}: ${command.words.join(" ")}`;
}

export interface InstallCommand {
  readonly words: readonly [program: "npm" | "pnpm", ...args: readonly string[]];
  /** The folder to run it in. Undefined for a global install. */
  readonly project?: string;
}

/** The command that installs packages where Pressmark finds them. Undefined if there is none: in a checkout, or with npx. */
export function installCommand(names: readonly string[], folder = packageFolder()): InstallCommand | undefined {
  const modules = dirname(folder);
  if (basename(modules) !== "node_modules" || folder.split(sep).includes("_npx")) return undefined;
  const [outer = "", ...inner] = folder.split(`${sep}.pnpm${sep}`);
  if (inner.length > 0) {
    const isGlobal = /[/\\]global[/\\][^/\\]+(?:[/\\]node_modules)?$/.test(outer);
    if (isGlobal) return { words: ["pnpm", "add", "--global", ...names] };
    return { words: ["pnpm", "add", ...names], project: dirname(outer) };
  }
  const project = dirname(modules);
  // The folder of global packages belongs to no project.
  if (!existsSync(join(project, "package.json"))) return { words: ["npm", "install", "--global", ...names] };
  const isPnpm = existsSync(join(modules, ".modules.yaml"));
  return { words: isPnpm ? ["pnpm", "add", ...names] : ["npm", "install", ...names], project };
}

/** Returns whether a line names a missing package of a mount that an earlier line has named: it is reported once, however many resources need it. */
export function createPackageNotices(): (line: string) => boolean {
  const named = new Set<string>();
  return (line) => {
    const name = /needs? the package \\?"([^"\\]+)/.exec(line)?.[1];
    if (name === undefined) return false;
    const key = `${name} ${/mount "([^"]*)"/.exec(line)?.[1] ?? ""}`;
    const isRepeated = named.has(key);
    named.add(key);
    return isRepeated;
  };
}
