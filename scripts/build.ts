/** Builds `dist`: the command and the library as modules with shared chunks, and the library's types. */
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { promisify } from "node:util";
import { parseAst } from "rolldown/parseAst";
import { type Plugin, rolldown } from "rolldown";
import { buildPicker, buildPickerApp, buildPickerElement } from "./build-picker.ts";
import { bundledPackages } from "./bundled-packages.ts";
import { buildVocabulary } from "./build-vocabulary.ts";
import { refuseWarnings } from "./refuse-warnings.ts";
import { noticesOfThirdParties, thirdParties } from "./third-parties.ts";

const root = dirname(import.meta.dirname);
const source = join(root, "src");
const dist = join(root, "dist");

/** Turns `new URL("./some-worker.ts", import.meta.url)` into the URL of a separate chunk. */
const workers: Plugin = {
  name: "workers",
  transform: {
    filter: { code: /new URL\(\s*"\.[^"]*\.ts",\s*import\.meta\.url/ },
    handler(code, id) {
      return code.replaceAll(/new URL\(\s*"(\.[^"]*\.ts)",\s*import\.meta\.url,?\s*\)/g, (_, path: string) => {
        const reference = this.emitFile({ type: "chunk", id: resolve(dirname(id), path) });
        return `new URL(import.meta.ROLLUP_FILE_URL_${reference})`;
      });
    },
  },
};

/**
 * Turns `import { x } from "node:y"` into a property access. Imported as modules, Node's built-ins load all their lazy parts:
 * `node:http` a WebSocket, `node:fs` streams and readline, which doubles the time to the first response.
 */
const leanBuiltins: Plugin = {
  name: "lean-builtins",
  transform: {
    // Packages may name a variable like a global, as in `import process from "node:process"`.
    filter: { code: /from "node:/, id: { exclude: /\/node_modules\// } },
    handler(code) {
      const edits = parseAst(code, { lang: "ts" }).body.flatMap((statement) => {
        if (statement.type !== "ImportDeclaration" || statement.importKind === "type") return [];
        const { source: from, specifiers, start, end } = statement;
        return from.value.startsWith("node:") ? [{ start, end, text: lookAt(from.value, specifiers) }] : [];
      });
      return edits.reduceRight((text, edit) => text.slice(0, edit.start) + edit.text + text.slice(edit.end), code);
    },
  },
};

type Statement = ReturnType<typeof parseAst>["body"][number];
type Specifiers = Extract<Statement, { type: "ImportDeclaration" }>["specifiers"];

function lookAt(module: string, specifiers: Specifiers): string {
  const builtin = `process.getBuiltinModule(${JSON.stringify(module)})`;
  return specifiers
    .map((specifier) => {
      if (specifier.type !== "ImportSpecifier") return `const ${specifier.local.name} = ${builtin};`;
      if (specifier.importKind === "type" || specifier.imported.type !== "Identifier") return "";
      return `const ${specifier.local.name} = ${builtin}.${specifier.imported.name};`;
    })
    .join(" ");
}

const { dependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
  readonly dependencies: Readonly<Record<string, string>>;
};
const clientEntries = ["index", "stdio"];

await rm(dist, { recursive: true, force: true });
const [picker] = await Promise.all([
  buildPicker(join(dist, "picker")),
  buildPickerApp(join(dist, "picker-app.html")),
  buildPickerElement(join(dist, "element")),
  buildModules(),
  buildClient(),
  buildTypes(),
  mkdir(dist, { recursive: true }).then(() => buildVocabulary(join(root, "node_modules"), join(dist, "o200k_base.br"))),
]);
await writeFile(join(dist, "third-parties.md"), await noticesOfThirdParties());
process.stdout.write(`picker: ${(picker.scriptBytes / 1000).toFixed(1)} kB of compressed script\n`);

async function buildModules(): Promise<void> {
  const bundle = await rolldown({
    cwd: root,
    platform: "node",
    input: { cli: join(source, "cli/run.ts"), ...(await libraryEntries()) },
    external: isExternal,
    plugins: [workers, leanBuiltins, thirdParties],
    onLog: refuseWarnings,
  });
  await bundle.write({
    dir: dist,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    // Each file costs time at the start: modules that are always needed together are one chunk.
    codeSplitting: {
      groups: [
        {
          name: "core",
          // Also all that `pressmark/source` loads: a source in a package of its own loads no server.
          test: /src\/(?:cli\/(?!commands\/(?!index\.ts|serve\.ts)|completions|confirm|offer-install|open-state-database|pick|reading|top)|(?:errors|layer|resources|runtime|source)\.ts$|backends\/(?:entries-page|polling-watch|shared-watch)\.ts$|lib\/(?:address-order|missing-package)\.ts$)/,
        },
        {
          name: "server",
          test: /src\/(?:access|layers(?!\/(?:mask-text|redact))|router|watch|server\/(?:activity-log|built-in-mounts|change-queue|clean-up|cursor-key|folder|index-status|instructions|line-limit|locate|build-server|open-|picker-app|picker-page|runtime|search\/index-location|server-index|server-metrics|start-|status-)|config\/find-config|backends\/skill-folders|lib\/(?:package-folder|uri-template)|protocol(?!\/client-results)|transport)/,
        },
        {
          name: "files",
          test: /src\/(?:backends\/(?:disk|folder-rules|ranges|disk-watch(?!\/watch-(?:worker|tree)))\/|sources\/file\.ts|lib\/(?:double-byte|mime|sniff|text-encoding|text-plausibility))/,
        },
      ],
    },
    // Comments are in the sources; in the package they are half a megabyte.
    comments: { jsdoc: false },
    // With line breaks: Node prints the line of an uncaught error, which would be the whole file.
    minify: { compress: true, mangle: false, codegen: false },
  });
  await bundle.close();
}

/** Packages stay outside, except those that are bundled, with what they import and our own dependencies do not include. */
function isExternal(id: string, importer: string | undefined): boolean {
  if (id.startsWith(".") || isAbsolute(id)) return false;
  const name = /^(?:@[^/]+\/)?[^/]+/.exec(id)![0];
  if (bundledPackages.includes(name)) return false;
  const isOfBundled = importer?.includes(`${sep}node_modules${sep}`) ?? false;
  return !isOfBundled || isBuiltin(id) || name in dependencies;
}

/** Built separately: the other chunks use Node, and a browser must be able to load this one. */
async function buildClient(): Promise<void> {
  const bundle = await rolldown({
    cwd: root,
    platform: "neutral",
    input: Object.fromEntries(clientEntries.map((name) => [name, join(source, "client", `${name}.ts`)])),
    external: (id) => !id.startsWith(".") && !isAbsolute(id),
    onLog: refuseWarnings,
  });
  await bundle.write({
    dir: join(dist, "client"),
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    // With line breaks: Node prints the line of an uncaught error, which would be the whole file.
    minify: { compress: true, mangle: false, codegen: false },
  });
  await bundle.close();
}

async function libraryEntries(): Promise<Record<string, string>> {
  const sources = (await readdir(join(source, "sources"))).filter(
    (name) => name.endsWith(".ts") && !/^(?:index\.ts|test-.*)$|\.test\.ts$/.test(name),
  );
  const files = ["index.ts", "source-kit.ts", "testing/index.ts", ...sources.map((name) => `sources/${name}`)];
  return Object.fromEntries(files.map((file) => [file.replace(/\.ts$/, ""), join(source, file)]));
}

async function buildTypes(): Promise<void> {
  const clients = clientEntries.map((name) => join(source, "client", `${name}.ts`));
  const files = [...Object.values(await libraryEntries()), ...clients];
  const elementTypes = join(dist, "element-types");
  await Promise.all([
    emitTypes("tsconfig.json", { extends: "../tsconfig.json", files, outDir: dist }),
    emitTypes("tsconfig.picker.json", {
      extends: "../src/picker/tsconfig.json",
      files: [join(source, "picker/element.tsx")],
      outDir: elementTypes,
    }),
  ]);
  // The only type file of the element that users need.
  await mkdir(join(dist, "element"), { recursive: true });
  await rename(join(elementTypes, "picker/element.d.ts"), join(dist, "element/index.d.ts"));
  await rm(elementTypes, { recursive: true });
  const entries = [...files.map((file) => relative(source, file).replace(/\.ts$/, ".d.ts")), "element/index.d.ts"];
  await keepReached(entries.map((name) => join(dist, name)));
}

interface TypesOptions {
  readonly extends: string;
  readonly files: readonly string[];
  readonly outDir: string;
}

async function emitTypes(name: string, { extends: base, files, outDir }: TypesOptions): Promise<void> {
  const config = join(dist, name);
  await mkdir(dist, { recursive: true });
  const compilerOptions = {
    rootDir: "../src",
    outDir,
    noEmit: false,
    declaration: true,
    // Functions that only tests call are no part of the published types.
    stripInternal: true,
    emitDeclarationOnly: true,
    rewriteRelativeImportExtensions: true,
  };
  await writeFile(config, JSON.stringify({ extends: base, include: [], files, compilerOptions }));
  try {
    await promisify(execFile)(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", config]);
  } catch (cause) {
    process.stderr.write((cause as { stdout?: string }).stdout || `${String(cause)}\n`);
    process.exitCode = 1;
  } finally {
    await rm(config);
  }
}

/** Removes type files that no entry leads to: the compiler writes one for each module that it reads. */
async function keepReached(entries: readonly string[]): Promise<void> {
  const reached = new Set(entries);
  for (const path of reached) {
    const text = await readFile(path, "utf8");
    // The compiler leaves `import("./source.ts")` inside a type unchanged; users have `./source.js`.
    const named = text.replaceAll(/(from |import\()"(\.{1,2}\/[^"]+)\.ts"/g, '$1"$2.js"');
    if (named !== text) await writeFile(path, named);
    for (const [, module] of named.matchAll(/(?:from |import |import\()"(\.{1,2}\/[^"]+)\.js"/g))
      reached.add(resolve(dirname(path), `${module}.d.ts`));
  }
  const written = (await readdir(dist, { recursive: true })).filter((name) => name.endsWith(".d.ts"));
  await Promise.all(
    written
      .map((name) => join(dist, name))
      .filter((path) => !reached.has(path))
      .map((path) => rm(path)),
  );
}
