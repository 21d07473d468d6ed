/** Builds the single executable (Linux x64): Node, the package in `dist`, and the packages that it imports, in one file. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Plugin, rolldown } from "rolldown";
import { noticesOfThirdParties, thirdParties } from "./third-parties.ts";

const root = dirname(import.meta.dirname);
const dist = join(root, "dist");

/** Puts the embedded files into a copy of Node, which cannot do so itself before version 25.5 (`--build-sea`). */
const injector = {
  name: "postject@1.0.0-alpha.6",
  sha512: "b9Eb8h2eVqNE8edvKdwqkrY6O7kAwmI8kcnBv1NScolYJbo59XUF0noFq+lxbC1yN20bmC0WBEbDC5H/7ASb0A==",
};
export const cannotDownload = `npm cannot download ${injector.name}`;
/** https://nodejs.org/api/single-executable-applications.html */
const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

const noticeOfNode = `## Node.js ${process.versions.node}\n\nhttps://github.com/nodejs/node/blob/${process.version}/LICENSE\n`;

/** Not embedded: for tests. */
const leftOut = new Set(["vitest"]);

/** Writes the executable and, beside it, the licences of what it contains (`<file>.third-parties.md`). */
export async function buildExecutable(file: string): Promise<void> {
  if (process.platform !== "linux" || process.arch !== "x64") throw new Error("the executable is built on Linux x64");
  await mkdir(dirname(file), { recursive: true });
  const working = await mkdtemp(join(tmpdir(), "pressmark-executable-"));
  try {
    const main = await bundleLoader(working);
    const packages = await bundlePackages(join(working, "packages"));
    await writeFile(join(working, "packages.json"), JSON.stringify(packages));
    const assets = {
      "loader.js": main,
      "package.json": join(root, "package.json"),
      "packages.json": join(working, "packages.json"),
      ...(await filesBelow(join(working, "packages"), "packages", /\.js$/)),
      ...(await filesBelow(dist, "dist", /^(?!element\/)(?!.*\.d\.ts$)/)),
    };
    const blob = join(working, "blob");
    await writeFile(
      join(working, "sea.json"),
      JSON.stringify({ main, output: blob, assets, disableExperimentalSEAWarning: true }),
    );
    execFileSync(process.execPath, ["--experimental-sea-config", join(working, "sea.json")], { stdio: "pipe" });
    // Renamed when it is complete: a running executable can be replaced, but not written.
    const unfinished = `${file}.unfinished`;
    await copyFile(process.execPath, unfinished);
    await chmod(unfinished, 0o755);
    await inject(unfinished, blob, working);
    await rename(unfinished, file);
    const notices = [
      await readFile(join(dist, "third-parties.md"), "utf8"),
      await noticesOfThirdParties(),
      noticeOfNode,
    ];
    await writeFile(`${file}.third-parties.md`, notices.join("\n"));
  } finally {
    await rm(working, { recursive: true, force: true });
  }
}

async function bundleLoader(folder: string): Promise<string> {
  const bundle = await rolldown({ platform: "node", input: join(import.meta.dirname, "executable/loader.ts") });
  await bundle.write({ dir: folder, format: "cjs", entryFileNames: "loader.js" });
  await bundle.close();
  return join(folder, "loader.js");
}

/** Bundles each package that `dist` imports; returns their files by what is imported. */
async function bundlePackages(folder: string): Promise<Readonly<Record<string, string>>> {
  const specifiers = await importedPackages();
  const entry = "entry of ";
  const entries: Plugin = {
    name: "entries",
    resolveId: (id) => (id.startsWith(entry) ? join(root, `${id}.mjs`) : undefined),
    async load(id) {
      const [, specifier] = /entry of (.*)\.mjs$/.exec(id) ?? [];
      if (specifier === undefined) return undefined;
      // The names that Node finds, also in CommonJS. Some are reserved words.
      const names = Object.keys((await import(specifier)) as object).map((name) => JSON.stringify(name));
      const constants = names.map((name, at) => `const name${at} = all[${name}];`).join("\n");
      const exported = names.map((name, at) => `name${at} as ${name}`).join(", ");
      return `import * as all from ${JSON.stringify(specifier)};\n${constants}\nexport { ${exported} };`;
    },
  };
  const bundle = await rolldown({
    cwd: root,
    platform: "node",
    input: Object.fromEntries(specifiers.map((specifier) => [specifier, entry + specifier])),
    plugins: [entries, thirdParties],
    // Warnings about the code of others.
    logLevel: "silent",
  });
  await bundle.write({ dir: folder, format: "esm", entryFileNames: "[name].js", chunkFileNames: "chunks/[hash].js" });
  await bundle.close();
  const files = Object.fromEntries(specifiers.map((specifier) => [specifier, `packages/${specifier}.js`]));
  return { ...files, "pressmark/source": "dist/source-kit.js" };
}

/** What the modules in `dist` import of the packages in package.json. */
async function importedPackages(): Promise<readonly string[]> {
  const { dependencies, peerDependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Record<
    "dependencies" | "peerDependencies",
    Readonly<Record<string, string>>
  >;
  const names = Object.keys({ ...dependencies, ...peerDependencies }).filter((name) => !leftOut.has(name));
  const found = new Set<string>();
  for (const file of Object.values(await filesBelow(dist, "dist", /\.js$/)))
    for (const [, specifier = ""] of (await readFile(file, "utf8")).matchAll(/(?:from |import ?\(?)"([@\w][^"]*)"/g))
      if (names.some((name) => specifier === name || specifier.startsWith(`${name}/`))) found.add(specifier);
  return [...found].sort();
}

/** Paths of the files whose name below the folder matches, by that name below the prefix. */
async function filesBelow(folder: string, prefix: string, pattern: RegExp): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((name) => pattern.test(name));
  return Object.fromEntries(names.sort().map((name) => [`${prefix}/${name}`, join(folder, name)]));
}

async function inject(file: string, blob: string, working: string): Promise<void> {
  try {
    execFileSync("npm", ["pack", injector.name, "--silent", "--pack-destination", working], { stdio: "pipe" });
  } catch (cause) {
    throw new Error(cannotDownload, { cause });
  }
  const packed = join(working, `${injector.name.replace("@", "-")}.tgz`);
  const digest = createHash("sha512")
    .update(await readFile(packed))
    .digest("base64");
  if (digest !== injector.sha512) throw new Error(`${injector.name} is not the package that was tested`);
  execFileSync("tar", ["-xzf", packed, "-C", working]);
  const [api, options] = [join(working, "package/dist/api.js"), { sentinelFuse: fuse }].map((each) =>
    JSON.stringify(each),
  );
  const program = `const [file, blob] = process.argv.slice(1);
    require(${api}).inject(file, "NODE_SEA_BLOB", require("node:fs").readFileSync(blob), ${options});`;
  // A process of its own, because it prints warnings about the names of sections, which do not matter.
  execFileSync(process.execPath, ["--eval", program, file, blob], { stdio: "pipe" });
}

if (import.meta.main) {
  const file = join(root, "build/pressmark-linux-x64");
  await buildExecutable(file);
  process.stdout.write(`${file}\n`);
}
