/** Loads a config: reads, parses and checks it, and applies its grants. */
import { basename, dirname, extname, relative, resolve } from "node:path";
import { sources } from "../sources/index.ts";
import { checkAccess, checkQuotas } from "./access.ts";
import { checkAuth } from "./auth.ts";
import { askForMounts, mayRun, type AskedPlaces, referredFact } from "./ask-for-mounts.ts";
import { createAsking, partOf, type Standing } from "./asking.ts";
import { check, type CheckOptions } from "./check.ts";
import { checkMounts, takeChecked } from "./check-mounts.ts";
import type { Config, MountConfig } from "./config.ts";
import { mountOf, problemsByMount, toFaultyMount } from "./faulty-mounts.ts";
import type { Registry } from "./find-source.ts";
import {
  callerReasons,
  pathReason,
  referenceReason,
  ruleReasons,
  searchReasons,
  serverReasons,
} from "./permissions.ts";
import { ConfigError, inOrder, type Problem, problemLine, formatPath } from "./problem.ts";
import { parseConfig, readConfig, runConfig } from "./read-config.ts";
import { isPlainObject, redactor, resolveReferences, valueAt } from "./references.ts";
import { configSchema, type SearchSettings, type ServerSettings } from "./schema.ts";
import { checkSets } from "./sets.ts";
import { checkState } from "./state.ts";
import { shownConfig } from "./masked-config.ts";
import { realPath } from "../lib/real-path.ts";
import { createTrustStore, type Grant, holds, noGrant, type Permission } from "./trust.ts";
import { createIsConsequence, withoutUnresolved } from "./unresolved.ts";
import { wholePermission } from "./whole-permission.ts";

export interface ConfigOrigin {
  readonly file: string;
  /** Whether the user named it; a config that was found may do only what it was trusted with. */
  readonly named: boolean;
}

export interface ConfigContext {
  /** The current folder: paths in errors are relative to it. */
  readonly from: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stateFolder: string;
  /** All sources by name. Default: those of this package. */
  readonly registry?: Registry;
}

/** The config, or the permission that it needs before it is used at all. */
type LoadedConfig = { readonly config: Config } | { readonly untrusted: Permission };

interface LoadOptions {
  readonly grant: Grant;
  /** Whether this is for a trust prompt: then everything that a grant is bound to is examined. */
  readonly isAsking: boolean;
}

/** Leaves out mounts with problems. Throws a ConfigError with all problems if one concerns more than a single mount. */
export async function loadConfig(origin: ConfigOrigin, world: ConfigContext): Promise<LoadedConfig> {
  const grant = origin.named ? noGrant : createTrustStore(world.stateFolder).read(origin.file);
  return loadWith(origin, world, { grant, isAsking: false });
}

/** The same with a given grant. */
export async function loadWith(
  { file, named }: ConfigOrigin,
  world: ConfigContext,
  { grant, isAsking }: LoadOptions,
): Promise<LoadedConfig> {
  const folder = dirname(resolve(file));
  const label = labelOf(file, world.from);
  const bytes = readConfig(file, label);
  const isProgram = extname(file) === ".ts";
  const standing: Standing = named ? "named" : isProgram ? "program" : "found";
  const whole = named ? undefined : wholePermission(file, bytes, grant);
  if (whole?.isGranted === false) return { untrusted: whole };
  const text = isProgram ? await runConfig(file, bytes, label) : await parseConfig(file, bytes, label);
  const raw = text.value ?? {};
  const asking = createAsking({ standing, raw, grant });

  const resolved = resolveReferences(raw, {
    env: world.env,
    folder,
    mayResolve: asking.mayResolve,
    sawFile: (path, key, content) => named || asking.bind(partOf(key), referredFact(path, folder, content)) || isAsking,
  });
  for (const reference of resolved.references)
    asking.becauseWritten(reference.path, referenceReason(reference, folder, isAsking));
  const redact = redactor(resolved.secrets);
  const problems: Problem[] = [...resolved.problems];
  const isConsequence = createIsConsequence(resolved);
  function refuse(...found: readonly Problem[]): void {
    for (const problem of found) if (!isConsequence(problem)) problems.push(problem);
  }

  const { z: zod } = await import("zod");
  const places: AskedPlaces = new Map();
  const checking: CheckOptions = {
    zod,
    folder,
    isReferred: (path) => resolved.secretPaths.has(formatPath(path)),
    sawPath(path, key) {
      if (!holds(folder, path)) asking.because(key, pathReason(path, key));
      const place = [`where ${formatPath(key.slice(2))} leads`, path] as const;
      const known = places.get(partOf(key));
      if (known) known.push(place);
      else places.set(partOf(key), [place]);
    },
  };
  const schema = configSchema(zod);
  const outline =
    takeChecked(check(schema, withoutMounts(resolved.value), [], checking), refuse) ??
    // Leaves out only the settings that may not be resolved.
    takeChecked(check(schema, withoutMounts(withoutUnresolved(resolved)), [], checking), () => undefined);
  const { limits, redact: isRedacted, server = {}, search = {}, sets: chosen = {} } = outline?.value ?? {};
  const { callers = {}, rules = [], quotas = {} } = outline?.value ?? {};
  const written = mountsOf(resolved.value, folder, refuse);
  const mountNames = Object.keys(written);
  const registry = world.registry ?? sources;
  const checked = await checkMounts(written, {
    ...checking,
    registry,
    limits,
    redact: isRedacted,
    mayRun(program, content, key, of) {
      checking.sawPath?.(program, key);
      return named || mayRun({ file: program, content, key, of }, { asking, folder, isAsking });
    },
    refuse,
  });
  const sets = checkSets(chosen, { isReferred: checking.isReferred, refuse });
  const access = checkAccess(callers, rules, { folder, mounts: mountNames, isReferred: checking.isReferred, refuse });
  checkQuotas(quotas, Object.keys(callers), { refuse });
  checkAuth(server, { callers: Object.keys(callers), refuse });
  checkState(server, { refuse });
  const byMount = problemsByMount(problems);
  const valid = checked.filter(({ name }) => !byMount.has(name));
  // Of two mounts that share URIs, the later one is left out: that of a custom source.
  const isCustom = ({ definition }: MountConfig) => !Object.hasOwn(registry, definition.name);
  const mounts = [...valid.filter((each) => !isCustom(each)), ...valid.filter(isCustom)];
  const bindings = await askForMounts(mounts, { asking, places, raw, resolved, folder, isNamed: named, isAsking });
  for (const [section, reasons] of [
    ["server", serverReasons(server)],
    ["search", searchReasons(search)],
    ["callers", callerReasons(callers)],
    ["rules", ruleReasons(rules.length)],
  ] as const)
    for (const [setting, each] of Object.entries(reasons)) asking.because([section, setting], ...each);

  const placeOf = (problem: Problem) => problem.place ?? text.place(problem.path, problem.atKey ? "key" : "value");
  const lineOf = (problem: Problem) => redact(problemLine(label, problem, placeOf(problem)));
  const linesOf = (some: readonly Problem[]) => inOrder(some, placeOf).map(lineOf);
  if (problems.some((problem) => mountOf(problem) === undefined)) throw new ConfigError(label, linesOf(problems));
  const faulty = await Promise.all(
    Object.entries(written).flatMap(([name, settings]) => {
      const own = byMount.get(name);
      return own ? [toFaultyMount(name, { problems: own, settings, registry, redact: isRedacted, linesOf })] : [];
    }),
  );

  // A mount with problems is not examined completely, so it cannot be trusted before they are fixed.
  const asked = asking.permissions().filter(({ part }) => !faulty.some(({ name }) => part === `mounts.${name}`));
  // Paths may contain values of references.
  const permissions = [...(whole ? [whole] : []), ...asked].map((each) => ({
    ...each,
    reasons: each.reasons.map(redact),
  }));
  const withheld = permissions.filter((each) => !each.isGranted);
  const leftOut = new Map(withheld.map(({ part, settings }) => [part, settings]));
  const allowed = (section: string, settings: object) =>
    Object.fromEntries(Object.entries(settings).filter(([setting]) => !leftOut.get(section)?.includes(setting)));
  return {
    config: {
      file: resolve(file),
      folder: realPath(folder),
      mounts: mounts.flatMap((mount) => {
        const { bound, checkTrust } = bindings.get(mount.name) ?? {};
        return leftOut.has(`mounts.${mount.name}`) ? [] : [{ ...mount, bound, checkTrust }];
      }),
      faulty,
      server: allowed("server", server) as ServerSettings,
      search: allowed("search", search) as SearchSettings,
      sets,
      access: leftOut.has("callers") || leftOut.has("rules") ? undefined : access,
      quotas,
      permissions,
      withheld,
      redact,
      shown: shownConfig(
        mounts,
        { server, search, sets, access: { ...access, rules }, quotas },
        resolved.secretPaths,
        mountsBeside(mounts, raw),
      ),
      refusal: (path, { message }) => new ConfigError(label, [lineOf({ path, message })]),
    },
  };
}

/** Without the mounts, which are checked one by one: a problem of one is none of the others. */
function withoutMounts(value: unknown): unknown {
  return isPlainObject(value) && isPlainObject(value["mounts"]) ? { ...value, mounts: {} } : value;
}

/** Mounts that are left out, as written. */
function mountsBeside(mounts: readonly MountConfig[], raw: unknown): Readonly<Record<string, unknown>> {
  const known = new Set(mounts.map(({ name }) => name));
  return Object.fromEntries(Object.entries(valueAt(raw, ["mounts"])).filter(([name]) => !known.has(name)));
}

/** A file relative to the current folder, if that is shorter. */
export function labelOf(file: string, from: string): string {
  const way = relative(from, file);
  return way === "" || way.length > file.length ? file : way;
}

/** The command line that grants trust to a config. */
export function trustCommand(file: string, from: string): string {
  const way = relative(from, dirname(resolve(file)));
  return way === "" ? "pressmark trust" : `pressmark trust ${/^[\w./-]+$/.test(way) ? way : JSON.stringify(way)}`;
}

/** A valid mount name from a folder's name. */
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
  const mounts = isPlainObject(value) ? value["mounts"] : undefined;
  if (mounts === undefined) return { [plainName(folder)]: { source: "file", root: "." } };
  // Already reported if it is not an object.
  if (!isPlainObject(mounts)) return {};
  if (Object.keys(mounts).length === 0)
    refuse({ path: ["mounts"], message: "is empty; add a mount, or remove the key to serve this folder" });
  return mounts;
}
