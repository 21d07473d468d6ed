/** `pressmark report`: collects what a bug report needs, without secrets. */
import { existsSync, readFileSync } from "node:fs";
import { release } from "node:os";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { notFound, toResourceError } from "../../errors.ts";
import { listPackageFiles, readManifest } from "../../lib/package-files.ts";
import { isExecutable, packageFolder } from "../../lib/package-folder.ts";
import { homeFolder, stateFolder, systemPathsOf } from "../../lib/system-paths.ts";
import type { ServerSettings } from "../../config/schema.ts";
import type { CheckResult } from "../../server/examine.ts";
import { type CommandContext, defineCommand, type FlagValues, flag, textFlag } from "../command.ts";
import { plainText, print } from "../print.ts";
import { resourceAccessFlags } from "../reading/resource-access.ts";
import { asLines } from "./doctor.ts";

const maxLogLines = 200;

const flags = {
  json: flag("Print JSON"),
  config: textFlag("FILE", "Config file to use instead of the nearest one", "files"),
  log: textFlag("FILE", "Include the last 200 lines of this log; - reads standard input", "files"),
  server: textFlag("URL", "Ask this server for its state and log instead of the one of this folder"),
  header: resourceAccessFlags.header,
};

export default defineCommand({
  name: "report",
  summary: "Collect what a bug report needs",
  more: "Prints versions, the config with its secrets masked, what doctor finds, and the state and the last lines of the log of the running server, as Markdown. The home folder is written as ~. Names of mounts, files and callers are not masked: read the report before you share it.",
  examples: ["pressmark report > report.md", "journalctl -u pressmark -n 200 | pressmark report --log -"],
  flags,
  async run({ flags: given }, world) {
    const { examineSetup } = await import("../examine-setup.ts");
    const { maskUrls } = await import("../../config/mask-urls.ts");
    const { config, settings, redact = same } = await describeConfig(given.config, world);
    const report = {
      versions: await describeVersions(world),
      config,
      findings: await examineSetup(given.config, world),
      server: await askServer(given, settings, world),
      log: given.log === undefined ? undefined : await lastLines(given.log, world),
    };
    const home = homeFolder(world.env);
    // A log may contain URLs of other programs.
    // A service may have the whole disk as its home.
    const withoutHome = (each: string) => (dirname(home) === home ? each : each.replaceAll(home, "~"));
    const masked = mapTexts(report, (each) => withoutHome(maskUrls(redact(each)))) as typeof report;
    await print(world.out, given.json ? `${JSON.stringify(masked, undefined, 2)}\n` : plainText(toMarkdown(masked)));
    if (!world.isQuiet)
      world.err.write("pressmark: names of mounts, files and callers are in it; read it before you share it\n");
  },
});

async function describeVersions({ version, env }: CommandContext) {
  const folder = packageFolder();
  const embedded = isExecutable() ? await listPackageFiles(join(folder, "packages")) : [];
  const optional = Object.keys((await readManifest()).peerDependencies).map((name) => {
    const found = embedded.includes(`${name}.js`) ? "in the executable" : installedVersion(name, folder);
    return [name, found ?? "not installed"] as const;
  });
  return {
    pressmark: version,
    node: process.versions.node,
    system: `${process.platform} ${release()} ${process.arch}`,
    installedIn: folder,
    "optional packages": Object.fromEntries(optional),
    // Their values may be secrets.
    "variables that are set": Object.keys(env).filter((name) => name.startsWith("PRESSMARK_")),
  };
}

/** Looks where Node does: in this folder and those above. */
function installedVersion(name: string, folder: string): string | undefined {
  const file = join(folder, "node_modules", name, "package.json");
  if (existsSync(file)) return (JSON.parse(readFileSync(file, "utf8")) as { readonly version?: string }).version;
  return dirname(folder) === folder ? undefined : installedVersion(name, dirname(folder));
}

interface DescribedConfig {
  readonly config: Report["config"];
  readonly settings?: ServerSettings;
  redact?(text: string): string;
}

/** The resolved config as `pressmark config` shows it, or why there is none. */
async function describeConfig(named: string | undefined, { folder, env }: CommandContext): Promise<DescribedConfig> {
  const { findConfig } = await import("../../config/find-config.ts");
  const { loadConfig } = await import("../../config/load-config.ts");
  const { asksFor } = await import("../../config/trust.ts");
  const systemPaths = systemPathsOf(env);
  const file = named === undefined ? findConfig(folder, systemPaths.home) : resolve(folder, named);
  if (file === undefined) return { config: { problem: "no config in this folder or above" } };
  const origin = { file, named: named !== undefined };
  try {
    const loaded = await loadConfig(origin, { from: folder, env, stateFolder: stateFolder(systemPaths) });
    if ("untrusted" in loaded)
      return { config: { file, problem: `it ${asksFor(loaded.untrusted)} and is not trusted` } };
    const { shown, server: settings, redact } = loaded.config;
    return { config: { file, shown }, settings, redact };
  } catch (cause) {
    return { config: { file, problem: toResourceError(cause).message } };
  }
}

/** Sends no token unless the user names one: another program may answer. */
async function askServer(
  { server, header }: FlagValues<typeof flags>,
  settings: ServerSettings | undefined,
  world: CommandContext,
) {
  const { openRemote } = await import("../reading/remote.ts");
  const { findInstalledHosts } = await import("../../server/installed-hosts.ts");
  const url = server ?? (await findInstalledHosts(world.folder, world.env, settings)).here.url;
  try {
    const { resources, close } = await openRemote(url, header, world);
    try {
      const { contents } = await resources.read("pressmark://status", {
        caller: { id: "local", owner: true },
        signal: world.signal,
      });
      const [content] = contents;
      const status = JSON.parse(content && "text" in content.body ? content.body.text : "{}") as Status;
      const { version, mounts, index, clients, refusedByQuota, log } = status;
      return { url, version, mounts, index, clients, refusedByQuota, log };
    } finally {
      await close();
    }
  } catch (cause) {
    return { url, problem: toResourceError(cause).message };
  }
}

type Status = Partial<Readonly<Record<"version" | "mounts" | "index" | "clients" | "refusedByQuota", unknown>>> & {
  readonly log?: readonly string[];
};

async function lastLines(file: string, { folder, input }: CommandContext): Promise<readonly string[]> {
  const whole = file === "-" ? await text(input) : readLog(resolve(folder, file));
  return whole.trimEnd().split("\n").slice(-maxLogLines);
}

function readLog(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw notFound(file);
  }
}

function same(each: string): string {
  return each;
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mapTexts(each, change)]));
}

interface Report {
  readonly versions: unknown;
  readonly config: { readonly file?: string; readonly problem?: string; readonly shown?: unknown };
  readonly findings: readonly CheckResult[];
  readonly server: { readonly url: string; readonly problem?: string; readonly log?: readonly string[] };
  readonly log?: readonly string[] | undefined;
}

function toMarkdown({ versions, config, findings, server, log }: Report): string {
  const { log: serverLog, ...state } = server;
  const sections = [
    "# Pressmark report",
    `## Versions\n\n${block("json", toJson(versions))}`,
    `## Config\n\n${config.problem ?? `${config.file}\n\n${block("json", toJson(config.shown))}`}`,
    `## Doctor\n\n${block("", findings.map(asLines).join("").trimEnd())}`,
    `## Server\n\n${server.problem === undefined ? block("json", toJson(state)) : `${server.url}: ${server.problem}`}`,
    ...[serverLog, log].flatMap((lines) => (lines ? [`## Log\n\n${block("", lines.join("\n"))}`] : [])),
  ];
  return `${sections.join("\n\n")}\n`;
}

function toJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}

/** A fence that is longer than any in the text. */
function block(language: string, content: string): string {
  const longest = Math.max(2, ...[...content.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${content}\n${fence}`;
}
