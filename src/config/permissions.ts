/** Permissions that a found config needs: to run programs, leave its folder, read the environment, or accept other machines. */
import { basename, relative, resolve, sep } from "node:path";
import { quote } from "../errors.ts";
import { takenSchemes } from "./mount-base.ts";
import { placesBeyond } from "../backends/git/reach.ts";
import { findRepository } from "../backends/git/repository.ts";
import type { MountConfig } from "./config.ts";
import type { SourcePackage } from "./find-package.ts";
import type { IsIgnored } from "./ignored.ts";
import { type KeyPath, formatPath } from "./problem.ts";
import type { FoundReference } from "./references.ts";
import type { CallerSettings, SearchSettings, ServerSettings } from "./schema.ts";
import { skillFolders } from "../backends/skill-folders.ts";
import { realPath } from "../lib/real-path.ts";
import { stateReasons } from "./state.ts";
import { isBelow } from "./trust.ts";

/** The config's folder, without links, and its ignore rules. */
export interface OwnFolder {
  readonly path: string;
  readonly isIgnored: IsIgnored;
}

/** Returns why options need trust; each reason completes "this config …". */
type Judge = (options: Readonly<Record<string, unknown>>, folder: OwnFolder) => Promise<string[]> | string[];

/**
 * Sources that touch only the files that their paths name; they need trust for what a folder does not serve by default.
 * Every other source needs trust to be used at all.
 */
const confined: Readonly<Record<string, Judge>> = {
  config: judgeConfig,
  file: judgeFiles,
  docs: judgeDocs,
  git: judgeGit,
  memory: () => [],
  data: () => [],
  skills: judgeSkills,
  sqlite: judgeSqlite,
};

export function isConfined(source: string): boolean {
  return Object.hasOwn(confined, source);
}

/** Sources that follow links only when opened. The others may open a file by its path at any time. */
const anchored: ReadonlySet<string> = new Set(["file", "docs", "git", "memory", "data", "skills"]);

export function isAnchored(source: string): boolean {
  return anchored.has(source);
}

/** Hidden folders that are meant for models. */
const openFolders = [...skillFolders, ".github"];

async function judgeFiles(options: Readonly<Record<string, unknown>>, folder: OwnFolder): Promise<string[]> {
  const { root, ocr } = options as { readonly root: string; readonly ocr?: boolean | readonly string[] };
  return [
    ...(await keptBack(root, folder, true)),
    ...folderRuleReasons(options),
    ...(ocr ? ["starts the program tesseract for its pictures"] : []),
  ];
}

/** Reasons for options that relax the folder rules. */
function folderRuleReasons(options: Readonly<Record<string, unknown>>): string[] {
  const { hidden, ignore, allow } = options as {
    readonly hidden?: boolean;
    readonly ignore?: boolean;
    readonly allow?: readonly string[];
  };
  return [
    ...(hidden ? ["serves hidden names"] : []),
    ...(ignore === false ? ["serves what git ignores"] : []),
    ...(allow ?? []).map(
      (pattern) => `serves ${JSON.stringify(pattern)} even if hidden, ignored or a secret by its name`,
    ),
  ];
}

async function judgeDocs(options: Readonly<Record<string, unknown>>, folder: OwnFolder): Promise<string[]> {
  const { ref } = options as { readonly ref?: string };
  const ofHistory = ref === undefined ? [] : [`serves ${JSON.stringify(ref)} of a git repository`];
  return [...(await judgeFiles(options, folder)), ...ofHistory];
}

/** Reading a repository runs none of its code, but the repository may lead to another one. */
async function judgeGit(options: Readonly<Record<string, unknown>>, folder: OwnFolder): Promise<string[]> {
  const { root } = options as { readonly root: string };
  const repository = findRepository(root);
  const beyond = repository ? placesBeyond(repository, folder.path) : [];
  return [
    ...(await keptBack(root, folder, true)),
    ...folderRuleReasons(options),
    ...beyond.map((place) => `serves the git objects of ${JSON.stringify(place)}, outside its own folder`),
  ];
}

interface ConfigOptions {
  readonly root: string;
  readonly files: readonly (string | { readonly path: string })[];
  readonly env: boolean | readonly string[];
  readonly show: readonly string[];
}

/** Masked names need no trust; shown values and the environment do. */
async function judgeConfig(options: Readonly<Record<string, unknown>>, folder: OwnFolder): Promise<string[]> {
  const { root, env, show } = options as unknown as ConfigOptions;
  const reasons = await keptBack(root, folder, true);
  for (const [path, file] of filesOf(options))
    if (/(?:^|\/)\./.test(path) || (await keptBack(file, folder, false)).length > 0)
      reasons.push(`serves the names that ${JSON.stringify(path)} sets`);
  if (env === true || (Array.isArray(env) && env.length > 0))
    reasons.push("serves the names of the environment's variables");
  return [...reasons, ...show.map((pattern) => `shows the values of ${JSON.stringify(pattern)}`)];
}

/** Files of the source `config`: as written, and as absolute paths. */
function filesOf(options: Readonly<Record<string, unknown>>): (readonly [path: string, file: string])[] {
  const { root, files } = options as unknown as ConfigOptions;
  return files.map((file) => {
    const path = typeof file === "string" ? file : file.path;
    return [path, resolve(root, path)];
  });
}

async function judgeSkills(options: Readonly<Record<string, unknown>>, folder: OwnFolder): Promise<string[]> {
  const { root, roots = [] } = options as { readonly root?: string; readonly roots?: readonly string[] };
  const all = [...(root === undefined ? [] : [root]), ...roots];
  return (await Promise.all(all.map((each) => keptBack(each, folder, true)))).flat();
}

/** A schema tells little; rows need trust. */
async function judgeSqlite(options: Readonly<Record<string, unknown>>, folder: OwnFolder): Promise<string[]> {
  const { path, rows } = options as { readonly path: string; readonly rows: boolean | readonly string[] };
  const hasRows = rows === true || (Array.isArray(rows) && rows.length > 0);
  return [
    ...(await keptBack(path, folder, false)),
    ...(hasRows ? [`serves rows of ${JSON.stringify(basename(path))}`] : []),
  ];
}

/** Why a path within the folder needs trust. Paths that leave the folder are reported elsewhere. */
async function keptBack(path: string, folder: OwnFolder, isFolder: boolean): Promise<string[]> {
  const real = realPath(path);
  const way = relative(folder.path, real).split(sep).join("/");
  const isHidden = way.split("/").some((name) => name.startsWith(".") && name !== "..");
  const isOpen = openFolders.some((name) => way === name || way.startsWith(`${name}/`));
  if (isHidden && !isOpen) return [`serves the hidden ${isFolder ? "folder" : "file"} ${JSON.stringify(way)}`];
  if (way === "" || !isBelow(folder.path, real)) return [];
  return (await folder.isIgnored(real, isFolder))
    ? [`serves ${JSON.stringify(way)}, which is ignored or a secret by its name`]
    : [];
}

/** The reason for a reference. Link targets are looked up only for a trust prompt. */
export function referenceReason({ kind, name, path }: FoundReference, folder: string, isAsking: boolean): string {
  if (kind === "env") return `reads the environment variable ${JSON.stringify(name)} for ${formatPath(path)}`;
  const file = resolve(folder, name);
  const straight = resolve(isAsking ? realPath(folder) : folder, relative(folder, file));
  const real = isAsking ? realPath(file) : straight;
  const isOwn = isBelow(folder, file) && (!isAsking || isBelow(realPath(folder), real));
  const shown = isBelow(folder, file) ? name : file;
  const led = real === straight ? "" : `, which leads to ${JSON.stringify(real)}`;
  return `reads the file ${JSON.stringify(shown)}${led}${isOwn ? "" : ", outside its own folder,"} for ${formatPath(path)}`;
}

export function pathReason(path: string, key: KeyPath): string {
  return `reaches ${JSON.stringify(realPath(path))}, outside its own folder, for ${formatPath(key)}`;
}

/** The reason for a custom source, which is run. */
export function programReason(files: readonly string[], key: KeyPath): string {
  return `runs ${files.join(", ")} as a program, as it is now, for ${formatPath(key)}`;
}

/** The same for a package. */
export function packageReason({ name, version, folder }: SourcePackage, from: string, key: KeyPath): string {
  const way = isBelow(realPath(from), folder) ? relative(realPath(from), folder).split(sep).join("/") : folder;
  return `runs the package ${name}, version ${version}, in ${JSON.stringify(way)}, and what it depends on, as a program, for ${formatPath(key)}`;
}

/** Reasons of a mount. `command` is as written. */
export async function mountReasons(
  { name, definition, options }: Pick<MountConfig, "name" | "definition" | "options">,
  folder: OwnFolder,
  command?: unknown,
): Promise<string[]> {
  const which = formatPath(["mounts", name]);
  if (isConfined(definition.name)) {
    const reasons = await confined[definition.name]!(options as Readonly<Record<string, unknown>>, folder);
    return reasons.map((reason) => `${reason}, for ${which}`);
  }
  const what = typeof command === "string" ? `, which starts ${quote(command)},` : "";
  return [`uses the source ${quote(definition.name)}${what} for ${which}`];
}

/** The reason for a mount that would serve URIs of something else: the picker, the status, a web page. */
export function schemeReasons({ name, scheme }: Pick<MountConfig, "name" | "scheme">): string[] {
  if (!takenSchemes.has(scheme)) return [];
  return [`answers for URIs that begin with ${JSON.stringify(`${scheme}:`)}, for ${formatPath(["mounts", name])}`];
}

/** Files that a mount names by options that are not paths. */
export function morePlaces({ definition, options }: Pick<MountConfig, "definition" | "options">): [string, string][] {
  if (definition.name !== "config") return [];
  return filesOf(options as Readonly<Record<string, unknown>>).map(([path, file]) => [JSON.stringify(path), file]);
}

/** By setting. */
export function serverReasons({
  host,
  allowedHosts = [],
  allowedOrigins = [],
  trustProxy = [],
  tls,
  publicUrl,
  auth,
  scopes,
  tools,
  state,
  bus,
  tracing,
}: ServerSettings): Readonly<Record<string, readonly string[]>> {
  const isOpen = host !== undefined && !/^(?:localhost|127(?:\.\d+){3}|::1|\[::1\])$/i.test(host);
  return {
    host: isOpen ? [`listens on ${JSON.stringify(host)}, where other machines may reach it`] : [],
    allowedHosts: allowedHosts.map((name) => `answers to the name ${JSON.stringify(name)}`),
    allowedOrigins: allowedOrigins.map((origin) => `lets pages of ${JSON.stringify(origin)} ask`),
    trustProxy: trustProxy.map((proxy) => `believes the proxy ${JSON.stringify(proxy)} about who connects`),
    tls: tls ? [`identifies itself with the key in ${JSON.stringify(tls.key)}`] : [],
    publicUrl: publicUrl === undefined ? [] : [`answers to the name ${JSON.stringify(new URL(publicUrl).host)}`],
    auth: authReasons(auth),
    ...stateReasons({ state, bus }),
    scopes: scopes === undefined ? [] : ["decides which scopes callers need"],
    tools: Array.isArray(tools) && tools.includes("save_set") ? ["lets callers save sets"] : [],
    tracing: tracing ? [`sends traces of requests to ${JSON.stringify(new URL(tracing.endpoint).origin)}`] : [],
  };
}

function authReasons(auth: ServerSettings["auth"]): readonly string[] {
  if (auth === undefined) return [];
  if (auth === "builtin") return ["lets callers sign in, and issues tokens to them"];
  return auth.map(({ issuer }) => `lets everyone sign in to whom ${JSON.stringify(issuer)} issues a token`);
}

/** Callers sign in with tokens that the operator creates; an owner also sees the status of the server. */
export function callerReasons(
  callers: Readonly<Record<string, CallerSettings>>,
): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    Object.entries(callers).map(([name, { owner }]) => [
      name,
      [owner ? `makes ${JSON.stringify(name)} an owner, who sees everything` : `lets ${JSON.stringify(name)} sign in`],
    ]),
  );
}

export function ruleReasons(count: number): Readonly<Record<string, readonly string[]>> {
  return { rules: count === 0 ? [] : [`decides who may see what, by ${count} rule${count === 1 ? "" : "s"}`] };
}

/** All indexed text is sent to the embeddings endpoint. */
export function searchReasons({ embeddings }: SearchSettings): Readonly<Record<string, readonly string[]>> {
  if (!embeddings) return {};
  const { origin, pathname } = new URL(embeddings.url);
  return {
    embeddings: [`sends what is indexed to ${JSON.stringify(origin + pathname)}, for search.embeddings`],
  };
}
