/** Projects in empty folders that have installed the packed package, and nothing else of this repository unless it is named. */
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "../..");
const modules = join(root, "node_modules");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, unknown>>;
}

/** Everything that programs can import from the package: `pressmark`, `pressmark/client`, `pressmark/sources/file`, … */
export const subpaths: readonly string[] = Object.keys(manifest.exports)
  .filter((key) => manifest.exports[key] !== null && !key.endsWith(".json"))
  .flatMap((key) => (key === "./sources/*" ? sourceNames().map((name) => `./sources/${name}`) : [key]))
  .map((key) => `pressmark${key.slice(1)}`);

function sourceNames(): readonly string[] {
  return readdirSync(join(root, "dist/sources"))
    .filter((name) => name.endsWith(".js"))
    .map((name) => name.slice(0, -3));
}

export interface Project extends Disposable {
  readonly folder: string;
  write(file: string, text: string): void;
  /** Runs Node in the folder. */
  node(...args: readonly string[]): { readonly status: number | null; readonly output: string };
  /** Runs the compiler in the folder; returns what it reports, "" if there is nothing. */
  typeErrors(compilerOptions: Readonly<Record<string, unknown>>): string;
}

/** `packages` are installed besides the package and its dependencies. */
export function createProject(...packages: readonly string[]): Project {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-project-"));
  const installed = join(folder, "node_modules");
  mkdirSync(installed);
  execFileSync("tar", ["-xzf", packedFile(), "-C", installed]);
  renameSync(join(installed, "package"), join(installed, "pressmark"));
  for (const name of [...Object.keys(manifest.dependencies), ...packages]) {
    mkdirSync(dirname(join(installed, name)), { recursive: true });
    symlinkSync(join(modules, name), join(installed, name), "junction");
  }
  const write: Project["write"] = (file, text) => writeFileSync(join(folder, file), text);
  write("package.json", JSON.stringify({ name: "project", version: "1.0.0", private: true, type: "module" }));
  const node: Project["node"] = (...args) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
    return { status, output: `${stdout}${stderr}` };
  };
  return {
    folder,
    write,
    node,
    typeErrors(compilerOptions) {
      write("tsconfig.json", JSON.stringify({ compilerOptions: { noEmit: true, ...compilerOptions } }));
      const { status, output } = node(join(modules, "typescript/bin/tsc"), "-p", "tsconfig.json");
      return status === 0 ? "" : output || `the compiler ended with ${status}`;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The package as it would be published. Packed once for each build: tests share the file. */
export function packedFile(): string {
  const folder = join(tmpdir(), `pressmark-packed-${stateOfPackage()}`);
  const packed = join(folder, "pressmark.tgz");
  if (existsSync(packed)) return packed;
  const working = mkdtempSync(`${folder}-`);
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  execFileSync(npm, ["pack", "--ignore-scripts", "--silent", "--pack-destination", working], { cwd: root });
  renameSync(join(working, readdirSync(working)[0]!), join(working, "pressmark.tgz"));
  try {
    renameSync(working, folder);
  } catch (cause) {
    // Another test has packed the same at the same time.
    rmSync(working, { recursive: true });
    if (!existsSync(packed)) throw cause;
  }
  return packed;
}

/** Changes with every file that is packed. */
function stateOfPackage(): string {
  const hash = createHash("sha256");
  for (const part of ["package.json", "README.md", "CHANGELOG.md", "bin", "dist", "docs", "examples"]) {
    const path = join(root, part);
    const files = statSync(path).isDirectory() ? readdirSync(path, { recursive: true, encoding: "utf8" }).sort() : [""];
    for (const file of files) {
      const { size, mtimeMs } = statSync(join(path, file));
      hash.update(`${part}/${file} ${size} ${mtimeMs}\n`);
    }
  }
  return hash.digest("hex").slice(0, 16);
}
