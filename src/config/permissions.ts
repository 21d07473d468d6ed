/** What a config that was merely found may not do unasked: run anything, reach beyond its folder, open a door to others. */
import { statSync } from "node:fs";
import { basename, extname, relative, sep } from "node:path";
import { quote } from "../errors.ts";
import { placesBeyond } from "../sources/git/reach.ts";
import { findRepository } from "../sources/git/repository.ts";
import type { MountConfig } from "./config.ts";
import { type KeyPath, spellPath } from "./problem.ts";
import { isPlainObject } from "./references.ts";
import type { SearchSettings, ServerSettings } from "./schema.ts";
import { skillFolders } from "./skill-folders.ts";
import { withoutCredentials } from "./shown.ts";
import { type Permission, realPath, sha256 } from "./trust.ts";

/**
 * These touch nothing but the files that their paths name. What they would serve beyond what a folder serves by itself completes
 * "this config …". Any other source needs trust for itself.
 */
const confined: Readonly<Record<string, (options: unknown, folder: string) => readonly string[]>> = {
  config: configExtras,
  file: fileExtras,
  docs: docsExtras,
  git: gitExtras,
  memory: () => [],
  data: () => [],
  skills: skillsExtras,
  sqlite: sqliteExtras,
};

/** Hidden folders that are made to be read by a model. */
const openFolders = [...skillFolders, ".github"];

function fileExtras(options: unknown, folder: string): string[] {
  const { root } = options as { readonly root: string };
  return [...hiddenFolder(root, folder), ...ruleExtras(options)];
}

/** What the options that change the rules of a folder would serve beyond what the folder serves by itself. */
function ruleExtras(options: unknown): string[] {
  const { hidden, ignore, allow } = options as {
    readonly hidden?: boolean;
    readonly ignore?: boolean;
    readonly allow?: readonly string[];
  };
  return [
    ...(hidden ? ["serves hidden names"] : []),
    ...(ignore === false ? ["serves what git ignores"] : []),
    ...(allow ?? []).map((pattern) => `serves ${quote(pattern)} even if hidden, ignored or a secret by its name`),
  ];
}

function docsExtras(options: unknown, folder: string): string[] {
  const { ref } = options as { readonly ref?: string };
  return [...fileExtras(options, folder), ...(ref === undefined ? [] : [`serves ${quote(ref)} of a git repository`])];
}

/** Reading a repository runs nothing of it, but it may lead to another one. */
function gitExtras(options: unknown, folder: string): string[] {
  const { root } = options as { readonly root: string };
  const repository = findRepository(root);
  const places = repository ? placesBeyond(repository, folder) : [];
  return [
    ...hiddenFolder(root, folder),
    ...ruleExtras(options),
    ...places.map((place) => `serves the git objects of ${quote(place)}, outside its own folder`),
  ];
}

/** Names are masked facts at most; what is shown, or comes from the environment, is not the folder's own to tell. */
function configExtras(options: unknown, folder: string): string[] {
  const { root, files, env, show } = options as {
    readonly root: string;
    readonly files: readonly (string | { readonly path: string })[];
    readonly env: boolean | readonly string[];
    readonly show: readonly string[];
  };
  const hidden = files
    .map((file) => (typeof file === "string" ? file : file.path))
    .filter((path) => /(?:^|\/)\./.test(path));
  const speaksOfEnv = env === true || (Array.isArray(env) && env.length > 0);
  return [
    ...hiddenFolder(root, folder),
    ...hidden.map((path) => `serves the names that ${quote(path)} sets`),
    ...(speaksOfEnv ? ["serves the names of the environment's variables"] : []),
    ...show.map((pattern) => `shows the values of ${quote(pattern)}`),
  ];
}

function skillsExtras(options: unknown, folder: string): string[] {
  const { root, roots = [] } = options as { readonly root?: string; readonly roots?: readonly string[] };
  return [...(root === undefined ? [] : [root]), ...roots].flatMap((each) => hiddenFolder(each, folder));
}

/** A database is often one that git ignores: what its tables look like tells little, its rows may tell all. */
function sqliteExtras(options: unknown, folder: string): string[] {
  const { path, rows } = options as { readonly path: string; readonly rows: boolean | readonly string[] };
  const hasRows = rows === true || (Array.isArray(rows) && rows.length > 0);
  return [...hiddenFolder(path, folder), ...(hasRows ? [`serves rows of ${quote(basename(path))}`] : [])];
}

function hiddenFolder(root: string, folder: string): string[] {
  const way = relative(realPath(folder), realPath(root)).split(sep).join("/");
  const isHidden = way.split("/").some((name) => name.startsWith(".") && name !== "..");
  const isOpen = openFolders.some((name) => way === name || way.startsWith(`${name}/`));
  return isHidden && !isOpen ? [`serves the hidden folder ${quote(way)}`] : [];
}

/** What must be granted before anything in the file is believed. */
export function filePermissions(file: string, bytes: Uint8Array): Permission[] {
  const me = process.getuid?.();
  const { uid } = statSync(file);
  const isStranger = me !== undefined && uid !== me && uid !== 0;
  return [
    ...(isStranger
      ? [{ key: `owner:${uid}`, sentence: "belongs to another user of this machine", owner: "config" as const }]
      : []),
    ...(extname(file) === ".ts"
      ? [
          {
            key: `run:${sha256(bytes)}`,
            sentence: `runs ${basename(file)} as a program, as it is now`,
            owner: "config" as const,
          },
        ]
      : []),
  ];
}

/** For a `${file:…}` that leads out of the config's folder. */
export function readPermission(path: string, key: KeyPath): Permission {
  const real = realPath(path);
  return {
    key: `read:${sha256(real)}`,
    sentence: `reads ${quote(real)}, outside its own folder, for ${spellPath(key)}`,
    owner: ownerOf(key),
  };
}

/** For a source of one's own, which is run. */
export function programPermission(file: string, bytes: Uint8Array, key: KeyPath): Permission {
  return {
    key: `run:${sha256(bytes)}`,
    sentence: `runs ${quote(basename(file))} as a program, as it is now, for ${spellPath(key)}`,
    owner: ownerOf(key),
  };
}

/** For an option that names a path out of the config's folder. */
export function pathPermission(path: string, key: KeyPath): Permission {
  const real = realPath(path);
  return {
    key: `path:${sha256(real)}`,
    sentence: `reaches ${quote(real)}, outside its own folder, for ${spellPath(key)}`,
    owner: ownerOf(key),
  };
}

/** What a mount does beyond what any folder may. A source that is not confined is shown and compared as its mount is written. */
export function mountPermissions(
  { name, definition, options }: MountConfig,
  folder: string,
  raw: unknown,
): Permission[] {
  const which = spellPath(["mounts", name]);
  const extras = confined[definition.name];
  if (extras)
    return extras(options, folder).map((sentence) => ({
      key: `serve:${sha256(`${name}:${sentence}`)}`,
      sentence: `${sentence}, for ${which}`,
      owner: { mount: name },
    }));
  const all = isPlainObject(raw) ? raw["mounts"] : undefined;
  const written = JSON.stringify(isPlainObject(all) ? all[name] : undefined) ?? "";
  return [
    {
      key: `source:${sha256(written)}`,
      sentence: `uses the source ${quote(definition.name)} for ${which}: ${withoutCredentials(written).slice(0, 400)}`,
      owner: { mount: name },
    },
  ];
}

export function serverPermissions({ host, allowedHosts = [], allowedOrigins = [] }: ServerSettings): Permission[] {
  const isOpen = host !== undefined && !/^(?:localhost|127(?:\.\d+){3}|::1|\[::1\])$/i.test(host);
  return [
    ...(isOpen
      ? [
          {
            key: `host:${host}`,
            sentence: `listens on ${quote(host)}, where other machines may reach it`,
            owner: { setting: "host" },
          },
        ]
      : []),
    ...allowedHosts.map((name) => ({
      key: `allowedHost:${name}`,
      sentence: `answers to the name ${quote(name)}`,
      owner: { setting: "allowedHosts" },
    })),
    ...allowedOrigins.map((origin) => ({
      key: `allowedOrigin:${origin}`,
      sentence: `lets pages of ${quote(origin)} ask`,
      owner: { setting: "allowedOrigins" },
    })),
  ];
}

/** Whoever makes vectors of what is indexed is sent all of it. */
export function searchPermissions({ embeddings }: SearchSettings): Permission[] {
  if (!embeddings) return [];
  const { origin, pathname } = new URL(embeddings.url);
  return [
    {
      key: `embeddings:${sha256(embeddings.url)}`,
      sentence: `sends what is indexed to ${quote(origin + pathname)}, for search.embeddings`,
      owner: { setting: "embeddings" },
    },
  ];
}

function ownerOf([section, name]: KeyPath): Permission["owner"] {
  if (section === "mounts" && typeof name === "string") return { mount: name };
  return section === "server" && typeof name === "string" ? { setting: name } : "config";
}

/** Whether a mount or a setting must be left out while this is not granted. */
export function concerns(
  { owner }: Permission,
  what: { readonly mount: string } | { readonly setting: string },
): boolean {
  if (typeof owner !== "object") return true;
  if ("mount" in what) return "mount" in owner && owner.mount === what.mount;
  return "setting" in owner && owner.setting === what.setting;
}
