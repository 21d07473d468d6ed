/** Builds `dist`: the command and the library as modules that share their chunks, and the library's types. */
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { type Plugin, rolldown } from "rolldown";

const root = dirname(import.meta.dirname);
const source = join(root, "src");
const dist = join(root, "dist");

/** `new URL("./some-worker.ts", import.meta.url)` becomes the address of a chunk of its own. */
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
 * A module of Node as the object it is. Imported as a module, all its lazy parts are loaded to be named: `node:http` then takes ten
 * times as long, because it brings a WebSocket that no one asked for.
 */
const builtins: Plugin = {
  name: "builtins",
  // One for each importer, so that no chunk is loaded for the sake of another's `node:fs`.
  resolveId: { filter: { id: /^node:/ }, handler: (id, importer = "") => `\0${id}?${relative(root, importer)}` },
  load: {
    filter: { id: /^\0node:/ },
    handler(id) {
      const name = id.slice(1, id.indexOf("?"));
      const parts = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(name)));
      const ready = parts.filter(([part, { get }]) => get === undefined && /^\w+$/.test(part) && part !== "default");
      return [
        `const builtin = /* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(name)});`,
        "export default builtin;",
        ...ready.map(([part]) => `export const ${part} = builtin.${part};`),
      ].join("\n");
    },
  },
};

await rm(dist, { recursive: true, force: true });
await Promise.all([buildModules(), buildTypes()]);

async function buildModules(): Promise<void> {
  const bundle = await rolldown({
    cwd: root,
    platform: "node",
    input: { cli: join(source, "cli/run.ts"), ...(await libraryEntries()) },
    // Finding a package takes longer than running this one.
    external: (id) => !/^(?:\.|\0|node:|@std-uritemplate)/.test(id) && !isAbsolute(id),
    plugins: [workers, builtins],
    treeshake: { propertyReadSideEffects: false },
  });
  await bundle.write({
    dir: dist,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    // Each file costs time at the start: what is always needed together is one.
    codeSplitting: {
      groups: [
        { name: "core", test: /src\/(?:cli\/(?!commands)|(?:errors|layer|resources|source)\.ts$)/ },
        { name: "house", test: /src\/(?:access|layers|router|watch|server\/(?!start-)|lib\/uri-template)/ },
      ],
    },
    minify: { compress: true, mangle: false, codegen: false },
  });
  await bundle.close();
}

async function libraryEntries(): Promise<Record<string, string>> {
  const sources = (await readdir(join(source, "sources"))).filter(
    (name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && name !== "index.ts",
  );
  const files = ["index.ts", "testing/index.ts", ...sources.map((name) => `sources/${name}`)];
  return Object.fromEntries(files.map((file) => [file.replace(/\.ts$/, ""), join(source, file)]));
}

async function buildTypes(): Promise<void> {
  const config = join(dist, "tsconfig.json");
  await mkdir(dist, { recursive: true });
  await writeFile(
    config,
    JSON.stringify({
      extends: "../tsconfig.json",
      include: [],
      files: Object.values(await libraryEntries()),
      compilerOptions: {
        rootDir: "../src",
        outDir: ".",
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        rewriteRelativeImportExtensions: true,
      },
    }),
  );
  try {
    await promisify(execFile)(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", config]);
  } catch (cause) {
    process.stderr.write((cause as { stdout?: string }).stdout || `${String(cause)}\n`);
    process.exitCode = 1;
  } finally {
    await rm(config);
  }
  await Promise.all((await readdir(dist, { recursive: true })).filter((name) => name.endsWith(".d.ts")).map(nameModules));
}

/** The compiler leaves `import("./source.ts")` inside a type as it stands; the reader has `./source.js`. */
async function nameModules(name: string): Promise<void> {
  const path = join(dist, name);
  const text = await readFile(path, "utf8");
  const named = text.replaceAll(/(from |import\()"(\.{1,2}\/[^"]+)\.ts"/g, '$1"$2.js"');
  if (named !== text) await writeFile(path, named);
}
