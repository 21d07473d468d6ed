/** The public API of each subpath, as text: names and signatures. Reads the types in `dist`. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  type ExtractorMessage,
} from "@microsoft/api-extractor";

const root = dirname(import.meta.dirname);

export interface ApiReport {
  /** File name → text. */
  readonly pages: ReadonlyMap<string, string>;
  /** Types that a public signature names, and that no subpath exports: a program cannot name them. */
  readonly forgotten: readonly string[];
}

interface Manifest {
  readonly exports: Readonly<Record<string, { readonly types: string } | string | null>>;
}

export function apiReport(): ApiReport {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-api-"));
  try {
    return extract(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function extract(folder: string): ApiReport {
  const configs = [...publicTypes()].map(([subpath, types]) => ({ subpath, config: configFor(types, folder) }));
  const [first, ...others] = configs.map(({ config }) => config);
  const compilerState = CompilerState.create(first!, {
    additionalEntryPoints: others.map(({ mainEntryPointFilePath }) => mainEntryPointFilePath),
  });
  const pages = new Map<string, string>();
  const messages: ExtractorMessage[] = [];
  for (const { subpath, config } of configs) {
    const { succeeded } = Extractor.invoke(config, {
      compilerState,
      localBuild: true,
      messageCallback(message) {
        message.handled = true;
        if (message.messageId === "ae-forgotten-export") messages.push(message);
        else if (message.logLevel === "error") throw new Error(`${subpath}: ${message.text}`);
      },
    });
    if (!succeeded) throw new Error(`${subpath}: the report of the API could not be written`);
    pages.set(`${subpath.replaceAll("/", "-")}.md`, toPage(subpath, readFileSync(config.reportFilePath, "utf8")));
  }
  return { pages, forgotten: forgottenIn(messages, [...pages.values()].join("\n")) };
}

/** `pressmark/client` → the file with its types, for everything in `exports`. */
function publicTypes(): ReadonlyMap<string, string> {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;
  const found = Object.entries(exports).flatMap(([key, target]) => {
    if (target === null || typeof target === "string") return [];
    return filesFor(target.types).map(({ star, file }): [string, string] => [
      `pressmark${key.slice(1).replace("*", star)}`,
      file,
    ]);
  });
  return new Map(found.sort(([one], [other]) => (one < other ? -1 : 1)));
}

function filesFor(types: string): { readonly star: string; readonly file: string }[] {
  const [before, after] = types.split("*");
  if (after === undefined) return [{ star: "", file: join(root, types) }];
  const folder = join(root, before!);
  return readdirSync(folder)
    .filter((name) => name.endsWith(after) && name !== `index${after}`)
    .map((name) => ({ star: name.slice(0, -after.length), file: join(folder, name) }));
}

function configFor(mainEntryPointFilePath: string, folder: string): ExtractorConfig {
  const name = mainEntryPointFilePath.slice(root.length).replaceAll(/\W+/g, "-");
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, "package.json"),
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath,
      newlineKind: "lf",
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: "es2022",
            lib: ["es2022", "dom"],
            module: "nodenext",
            strict: true,
            skipLibCheck: true,
            types: ["node"],
          },
          include: [mainEntryPointFilePath],
        },
      },
      apiReport: { enabled: true, reportFileName: name, reportFolder: folder, reportTempFolder: join(folder, "temp") },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        extractorMessageReporting: {
          default: { logLevel: ExtractorLogLevel.None },
          "ae-forgotten-export": { logLevel: ExtractorLogLevel.Warning },
        },
        tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
      },
    },
  });
}

/** Only the declarations: comments change more often than promises. */
function toPage(subpath: string, report: string): string {
  const code = /```ts\n(.*)```/s.exec(report)?.[1] ?? "";
  const declarations = code.replaceAll(/^ *\/\/ .*\n/gm, "").trim();
  return `# ${subpath}\n\nWritten by \`npm run docs\` from the types in \`src/\`; change those, not this page.\n\n\`\`\`ts\n${declarations}\n\`\`\`\n`;
}

/** Types that only compute others, and that no program names. */
const computing = new Set(["Flat", "VariablesIn"]);

/** A type of another subpath can be imported from there. The type of a value (`typeof configSchema`) has no name. */
function forgottenIn(messages: readonly ExtractorMessage[], exported: string): readonly string[] {
  const names = messages.flatMap(({ text, sourceFilePath = "", sourceFileLine }) => {
    const name = /"(\w+?)(?:_\d+)?"/.exec(text)?.[1] ?? text;
    if (new RegExp(`^export (?:interface|type|class|const|function) ${name}\\b| as ${name} }`, "m").test(exported))
      return [];
    if (/^[a-z]/.test(name) || computing.has(name)) return [];
    return [`${name}, named in ${sourceFilePath.slice(root.length + 1)}:${sourceFileLine}`];
  });
  return [...new Set(names)].sort();
}
