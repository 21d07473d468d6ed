/** From a config's file to what it asks for: read, understood, checked, and held to what it was trusted with. */
import { readFileSync, statSync } from "node:fs";
import { basename, dirname, extname, relative, resolve } from "node:path";
import { ResourceError } from "../errors.ts";
import { sources } from "../sources/index.ts";
import { check, type CheckOptions } from "./check.ts";
import { checkMounts, take } from "./check-mounts.ts";
import type { Config } from "./config.ts";
import type { Registry } from "./find-source.ts";
import { type ParsedText, parseText } from "./parse-text.ts";
import {
  concerns,
  filePermissions,
  mountPermissions,
  pathPermission,
  programPermission,
  readPermission,
  searchPermissions,
  serverPermissions,
} from "./permissions.ts";
import { ConfigError, inOrder, type Problem, problemLine, spellPath } from "./problem.ts";
import { isPlainObject, redactor, resolveReferences } from "./references.ts";
import { ProgramError, runProgram } from "./run-program.ts";
import { configSchema, type SearchSettings, type ServerSettings } from "./schema.ts";
import { checkSets } from "./sets.ts";
import { shownConfig } from "./shown.ts";
import { createTrustStore, holds, type Permission } from "./trust.ts";

export interface ConfigOrigin {
  readonly file: string;
  /** Whether the person named it; one that was merely found may do no more than it was trusted with. */
  readonly named: boolean;
}

export interface ConfigWorld {
  /** Where the person stands: paths in errors are seen from there. */
  readonly from: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stateFolder: string;
  /** All sources by name; those of this package unless said. */
  readonly registry?: Registry;
}

/** Either the config, or what it would have to be trusted with before it is believed at all. */
export type LoadedConfig = { readonly config: Config } | { readonly untrusted: Permission };

const maxBytes = 1024 * 1024;

/** Throws a ConfigError with everything that is wrong. */
export async function loadConfig({ file, named }: ConfigOrigin, world: ConfigWorld): Promise<LoadedConfig> {
  const folder = dirname(resolve(file));
  const label = labelOf(file, world.from);
  const bytes = readConfig(file, label);
  const granted = createTrustStore(world.stateFolder).granted(file);
  const isProgram = extname(file) === ".ts";
  // A program that is trusted could do all of it by itself.
  const mayDo = ({ key }: Permission) => named || isProgram || granted.has(key);

  const permissions = filePermissions(file, bytes);
  const stranger = permissions.find(({ key }) => !named && !granted.has(key));
  if (stranger) return { untrusted: stranger };
  const text = isProgram ? await runConfig(file, bytes, label) : await parseConfig(file, bytes, label);

  const resolved = resolveReferences(text.value ?? {}, {
    env: world.env,
    folder,
    mayRead(path, key) {
      if (holds(folder, path)) return true;
      const permission = readPermission(path, key);
      permissions.push(permission);
      return mayDo(permission);
    },
  });
  const redact = redactor(resolved.secrets);
  const problems: Problem[] = [...resolved.problems];
  /** What has no value yet is no second problem. */
  const unresolved = new Set([...resolved.problems.map(({ path }) => spellPath(path)), ...resolved.withheld]);
  const refuse = (...found: readonly Problem[]) =>
    void problems.push(...found.filter(({ path }) => !unresolved.has(spellPath(path))));

  const { z: zod } = await import("zod");
  const checking: CheckOptions = {
    zod,
    folder,
    isReferred: (path) => resolved.secretPaths.has(spellPath(path)),
    sawPath(path, key) {
      if (!holds(folder, path)) permissions.push(pathPermission(path, key));
    },
  };
  const outline = take(check(configSchema(zod), resolved.value, [], checking), refuse)?.value;
  const mounts = await checkMounts(mountsOf(resolved.value, folder, refuse), {
    ...checking,
    registry: world.registry ?? sources,
    limits: outline?.limits,
    redact: outline?.redact,
    mayRun(program, content, key) {
      checking.sawPath?.(program, key);
      const permission = programPermission(program, content, key);
      permissions.push(permission);
      return mayDo(permission);
    },
    refuse,
  });
  const server = outline?.server ?? {};
  const search = outline?.search ?? {};
  const sets = checkSets(outline?.sets ?? {}, { isReferred: checking.isReferred, refuse });
  for (const mount of mounts) permissions.push(...mountPermissions(mount, folder, text.value));
  permissions.push(...serverPermissions(server), ...searchPermissions(search));

  const placeOf = (problem: Problem) => problem.place ?? text.place(problem.path, problem.atKey ? "key" : "value");
  const lineOf = (problem: Problem) => redact(problemLine(label, problem, placeOf(problem)));
  if (problems.length > 0) throw new ConfigError(label, inOrder(problems, placeOf).map(lineOf));

  // A path may hold what a reference stood for.
  const asked = permissions.map((permission) => ({ ...permission, sentence: redact(permission.sentence) }));
  const withheld = asked.filter((permission) => !mayDo(permission));
  const whole = withheld.find(({ owner }) => owner === "config");
  if (whole) return { untrusted: whole };
  const isAllowed = (what: Parameters<typeof concerns>[1]) =>
    !withheld.some((permission) => concerns(permission, what));
  return {
    config: {
      file: resolve(file),
      folder,
      mounts: mounts.filter(({ name }) => isAllowed({ mount: name })),
      server: Object.fromEntries(
        Object.entries(server).filter(([setting]) => isAllowed({ setting })),
      ) as ServerSettings,
      search: Object.fromEntries(
        Object.entries(search).filter(([setting]) => isAllowed({ setting })),
      ) as SearchSettings,
      sets,
      permissions: asked,
      withheld,
      redact,
      shown: shownConfig(mounts, { server, search, sets }, resolved.secretPaths),
      refusal: (path, message) => new ConfigError(label, [lineOf({ path, message })]),
    },
  };
}

/** Everything that a config would have to be trusted with, as it is now. A program is not run to find out. */
export async function permissionsAsked(file: string, world: ConfigWorld): Promise<readonly Permission[]> {
  if (extname(file) === ".ts") return filePermissions(file, readConfig(file, labelOf(file, world.from)));
  const loaded = await loadConfig({ file, named: true }, world);
  return "config" in loaded ? loaded.config.permissions : [loaded.untrusted];
}

/** A file as the person would name it from where they stand. */
export function labelOf(file: string, from: string): string {
  const way = relative(from, file);
  return way === "" || way.length > file.length ? file : way;
}

/** What to type so that a config may do what it asks for. */
export function trustCommand(file: string, from: string): string {
  const way = relative(from, dirname(resolve(file)));
  return way === "" ? "pressmark trust" : `pressmark trust ${/^[\w./-]+$/.test(way) ? way : JSON.stringify(way)}`;
}

/** A folder's name as that of a mount. */
export function plainName(folder: string): string {
  const name = basename(folder)
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, "-")
    .replace(/^[^\p{L}\p{N}]+/u, "");
  return name === "" ? "files" : [...name].slice(0, 64).join("");
}

function mountsOf(
  value: unknown,
  folder: string,
  refuse: (problem: Problem) => void,
): Readonly<Record<string, unknown>> {
  const said = isPlainObject(value) ? value["mounts"] : undefined;
  if (said === undefined) return { [plainName(folder)]: { source: "file", root: "." } };
  // What is no group of keys was said already.
  if (!isPlainObject(said)) return {};
  if (Object.keys(said).length === 0)
    refuse({ path: ["mounts"], message: "names nothing to serve; add a mount, or remove it to serve this folder" });
  return said;
}

function readConfig(file: string, label: string): Uint8Array {
  const refusal = (why: string) => new ConfigError(label, [`${label}: ${why}`]);
  try {
    const stats = statSync(file);
    if (!stats.isFile()) throw refusal("is no file; name the config itself");
    if (stats.size > maxBytes) throw refusal(`has more than ${maxBytes} bytes, which no config needs`);
    return readFileSync(file);
  } catch (cause) {
    if (cause instanceof ResourceError) throw cause;
    const isAbsent = (cause as NodeJS.ErrnoException).code === "ENOENT";
    throw refusal(isAbsent ? "there is no such file; check the spelling" : "cannot be read; check its permissions");
  }
}

async function parseConfig(file: string, bytes: Uint8Array, label: string): Promise<ParsedText> {
  const answer = await parseText(new TextDecoder().decode(bytes), extname(file) === ".json" ? "json" : "yaml");
  if ("value" in answer) return answer;
  throw new ConfigError(
    label,
    answer.problems.map((problem) => problemLine(label, problem, problem.place)),
  );
}

async function runConfig(file: string, bytes: Uint8Array, label: string): Promise<ParsedText> {
  const value = await runProgram(file, bytes).catch((cause: unknown) => {
    throw cause instanceof ProgramError ? new ConfigError(label, [`${label}: ${cause.message}`]) : cause;
  });
  if (!isPlainObject(value)) throw new ConfigError(label, [`${label}: must export the config as its default`]);
  return { value, place: () => undefined };
}
