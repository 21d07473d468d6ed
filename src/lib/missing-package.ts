/** Says how to install a package that is missing. */
import { existsSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { packageFolder } from "./package-folder.ts";

export { isPackageMissing } from "./is-package-missing.ts";

/** `PDF files need the package "unpdf"; run: npm install --global unpdf` */
export function packageNeeded(needs: string, name: string): string {
  return `${needs} the package "${name}"; ${installAdvice(name)}`;
}

/** How to install a package so that Pressmark finds it, by how Pressmark itself was installed. Contains no path: callers may see it. */
export function installAdvice(name: string, folder = packageFolder()): string {
  if (folder === process.execPath) return `run in the folder of the executable: npm install ${name}`;
  const modules = dirname(folder);
  if (basename(modules) !== "node_modules") return "run in Pressmark's checkout: npm install";
  if (folder.split(sep).includes("_npx")) return `run: npx --package=pressmark --package=${name} pressmark …`;
  const pnpm = folder.split(`${sep}.pnpm${sep}`);
  if (pnpm.length > 1) {
    const isGlobal = /[/\\]global[/\\][^/\\]+(?:[/\\]node_modules)?$/.test(pnpm[0]!);
    return isGlobal ? `run: pnpm add --global ${name}` : `run in the project: pnpm add ${name}`;
  }
  // The folder of global packages belongs to no project.
  const isOfProject = existsSync(join(dirname(modules), "package.json"));
  if (!isOfProject) return `run: npm install --global ${name}`;
  const isPnpm = existsSync(join(modules, ".modules.yaml"));
  return `run in the project: ${isPnpm ? "pnpm add" : "npm install"} ${name}`;
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
