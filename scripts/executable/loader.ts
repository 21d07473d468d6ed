/**
 * The first script of the single executable, of its threads and of its child processes. Modules of the package are embedded; they have paths
 * below the executable's own (`/usr/bin/pressmark/dist/cli.js`), which do not exist on the disk, so that nothing else can be meant by them.
 */
import { enableCompileCache, registerHooks } from "node:module";
import { getAsset } from "node:sea";
import { pathToFileURL } from "node:url";
import threads, { type WorkerOptions } from "node:worker_threads";

const root = `${pathToFileURL(process.execPath).href}/`;
/** Files by what modules import: `zod` is `packages/zod.js`. */
const packages = JSON.parse(text("packages.json")) as Readonly<Record<string, string>>;

/** What a person's own source imports, whose project may have no packages. */
const forSources = ["pressmark/source", "zod"];

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL = "" } = context;
    const isInside = parentURL.startsWith(root);
    if (specifier.startsWith(root)) return embedded(specifier);
    if (!isInside) return forSources.includes(specifier) ? nextOr(specifier) : next(specifier, context);
    if (specifier.startsWith(".")) return embedded(new URL(specifier, parentURL).href);
    const file = packages[specifier];
    // Any other package is searched beside the executable.
    return file === undefined ? next(specifier, context) : embedded(root + file);

    /** The project's own package comes first. */
    function nextOr(name: string) {
      try {
        return next(name, context);
      } catch {
        return embedded(root + packages[name]!);
      }
    }
  },
  load(url, context, next) {
    if (!url.startsWith(root)) return next(url, context);
    return { format: "module", source: text(decodeURIComponent(url.slice(root.length))), shortCircuit: true };
  },
});

const StockWorker = threads.Worker;
/** Loads an embedded module by this script, which is embedded, too. */
threads.Worker = class Worker extends StockWorker {
  constructor(file: string | URL, options?: WorkerOptions) {
    if (file instanceof URL && file.href.startsWith(root))
      super(text("loader.js"), { ...options, argv: [file.href], eval: true });
    else super(file, options);
  }
};

void run();

async function run(): Promise<void> {
  if (!threads.isMainThread) return load(process.argv.pop()!);
  const [, , first = ""] = process.argv;
  // A child process: its module is the first argument, as under Node.
  if (first.startsWith(`${process.execPath}/`)) {
    process.argv.splice(1, 1);
    return load(pathToFileURL(first).href);
  }
  // Compiled code is kept between runs.
  enableCompileCache();
  const { version } = JSON.parse(text("package.json")) as { readonly version: string };
  const { runProcess } = (await import(`${root}dist/cli.js`)) as typeof import("../../src/cli/run.ts");
  await runProcess({ version });
}

async function load(url: string): Promise<void> {
  await import(url);
}

function embedded(url: string) {
  return { url, format: "module", shortCircuit: true };
}

function text(key: string): string {
  return getAsset(key, "utf8");
}
