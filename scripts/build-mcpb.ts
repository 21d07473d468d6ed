/** Builds the MCPB bundle from `dist` and the production dependencies: `npm run build:mcpb`, after `npm run build`. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

const root = dirname(import.meta.dirname);
const packer = ["npx", "--yes", "@anthropic-ai/mcpb@2.1.2"];

interface PackageManifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

interface McpbOptions {
  /** The folder to write to. */
  readonly to: string;
  /** The command of the official packer. Default: npx, which may download it. */
  readonly pack?: readonly string[];
}

/** Returns the path of the bundle. */
export function buildMcpb({ to, pack: [program, ...words] = packer }: McpbOptions): string {
  if (!existsSync(join(root, "dist/cli.js"))) throw new Error('there is no dist; run "npm run build" first');
  const stage = mkdtempSync(join(tmpdir(), "pressmark-mcpb-"));
  try {
    const server = join(stage, "server");
    cpSync(join(root, "bundles/mcpb/manifest.json"), join(stage, "manifest.json"));
    cpSync(join(root, "bundles/plugin/.claude-plugin/icon.png"), join(stage, "icon.png"));
    for (const name of ["bin", "dist", "package.json", "LICENSE"])
      cpSync(join(root, name), join(server, name), { recursive: true, filter: (path) => !path.endsWith(".d.ts") });
    for (const name of productionPackages())
      cpSync(join(root, "node_modules", name), join(server, "node_modules", name), {
        recursive: true,
        // zod and others also ship their sources.
        filter: (path) => !/\.(?:ts|cts|mts|map|md)$/.test(path) || basename(path).startsWith("LICENSE"),
      });
    const file = join(to, `pressmark-${manifestOf(root).version}.mcpb`);
    mkdirSync(to, { recursive: true });
    execFileSync(program!, [...words, "pack", stage, file], { stdio: ["ignore", "ignore", "inherit"] });
    return file;
  } finally {
    rmSync(stage, { recursive: true });
  }
}

/** The dependencies and theirs, as installed. */
function productionPackages(): ReadonlySet<string> {
  const names = new Set(Object.keys(manifestOf(root).dependencies ?? {}));
  for (const name of names)
    for (const other of Object.keys(manifestOf(join(root, "node_modules", name)).dependencies ?? {})) names.add(other);
  return names;
}

function manifestOf(folder: string): PackageManifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as PackageManifest;
}

if (import.meta.main) process.stdout.write(`${buildMcpb({ to: join(root, "dist-bundles") })}\n`);
