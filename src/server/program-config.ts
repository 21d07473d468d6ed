/** The config of a program that passes its mounts as values. */
import { checkAccess } from "../config/access.ts";
import { check } from "../config/check.ts";
import { checkMounts, takeChecked } from "../config/check-mounts.ts";
import type { Config, MountConfig } from "../config/config.ts";
import type { MountInput, CommonMountInput } from "../config/define-config.ts";
import { mountBase, schemePattern } from "../config/mount-base.ts";
import { formatPath, inOrder, type KeyPath, type Problem } from "../config/problem.ts";
import { isPlainObject } from "../config/references.ts";
import {
  type Limits,
  ruleSchema,
  type RuleSettings,
  type SearchSettings,
  type ServerSettings,
} from "../config/schema.ts";
import type { DefinedResources } from "../define/define-resources.ts";
import { invalid, quote, ResourceError } from "../errors.ts";
import type { Layer } from "../layer.ts";
import { defineSource, type Runtime, type Source, type SourceDefinition } from "../source.ts";
import { sources } from "../sources/index.ts";

/** Besides the keys that every mount of a config may have. */
export interface ProgramMountOptions {
  /**
   * URI prefix, ending in "/". Default for a source of the program: the name as the scheme (`notes://`) if it can be one and no other
   * program gives it a meaning, else `mount://<name>/`.
   */
  readonly base?: string;
  /** Replaces the standard layers: time limits, retries, cache and limits. */
  readonly layers?: (runtime: Runtime) => readonly Layer[];
}

/**
 * A source of the program, an object with functions that has one (`createMemory(…)`), or a mount as in a config file:
 * `{ source: "file", root: "docs" }`. Paths are relative to the current folder.
 */
export type ProgramMount =
  | Source
  | ((MountInput | ({ readonly source: Source } & CommonMountInput)) & ProgramMountOptions);

export interface ProgramConfigOptions {
  /** By name. */
  readonly mounts: Readonly<Record<string, ProgramMount>>;
  /** Limits of every mount that sets none. */
  readonly limits?: Limits;
  /** Masks secrets in texts. Default: false. */
  readonly redact?: boolean;
  /** Who may see what, as in a config: with any rule, what no rule allows is private. Paths of files are below the current folder. */
  readonly rules?: readonly RuleSettings[];
  /** False: no index. Default: true. */
  readonly search?: SearchSettings | boolean;
  readonly server?: Pick<ServerSettings, "tools" | "pageSize">;
}

/** Schemes that programs interpret in their own way, and those of the server itself. */
const knownSchemes: ReadonlySet<string> = new Set([
  ..."about blob data file ftp git http https javascript mailto ssh ws wss".split(" "),
  ..."left-out mount pressmark set ui zed".split(" "),
]);

/** Throws "invalid" with these problems and all problems of the mounts and rules. */
export async function createProgramConfig(
  { mounts: given, rules = [], limits, redact, search, server = {} }: ProgramConfigOptions,
  folder: string,
  others: readonly Problem[] = [],
): Promise<Config> {
  const { z: zod } = await import("zod");
  const problems: Problem[] = [...others];
  const checked: MountConfig[] = [];
  const mounts = isPlainObject(given) ? (given as ProgramConfigOptions["mounts"]) : {};
  if (Object.keys(mounts).length === 0)
    problems.push({ path: ["mounts"], message: `${mountsFault(given)}; pass mounts by name, as in { notes: source }` });
  for (const [name, mounted] of Object.entries(mounts)) {
    const asWritten = toSettings(name, mounted);
    if (!asWritten) {
      problems.push({ path: ["mounts", name], message: "must be a source, or an object with a source" });
      continue;
    }
    const { base, layers, ...settings } = asWritten;
    const secrets = (await definitionOf(settings.source))?.referencesOnly ?? [];
    const [mount] = await checkMounts(
      { [name]: settings },
      {
        zod,
        folder,
        registry: sources,
        limits,
        redact,
        // A program reads its secrets itself.
        isReferred: (path: KeyPath) => path.some((key) => secrets.includes(String(key))),
        mayRun: () => true,
        refuse: (...found) => void problems.push(...found),
      },
    );
    if (mount) checked.push({ ...mount, ...(base !== undefined && { base }), ...(layers && { layers }) });
  }
  const refuse = (...found: readonly Problem[]) => void problems.push(...found);
  const written = takeChecked(check(zod.array(ruleSchema(zod)), rules, ["rules"], { zod, folder, isReferred }), refuse);
  const mountNames = Object.keys(mounts);
  const access = checkAccess({}, written?.value ?? [], {
    folder,
    mounts: mountNames,
    hasOtherCallers: true,
    isReferred,
    refuse,
  });
  if (problems.length > 0)
    throw invalid(
      inOrder(problems, () => undefined)
        .map(({ path, message }) => `${formatPath(path)}: ${message}`)
        .join("\n"),
    );
  return {
    folder,
    mounts: checked,
    faulty: [],
    server,
    search: typeof search === "object" ? search : { enabled: search ?? true },
    sets: [],
    access,
    permissions: [],
    withheld: [],
    redact: (text) => text,
    shown: {},
    refusal: ([, name], cause) =>
      new ResourceError(cause.kind, `the mount ${quote(String(name))}: ${cause.message}`, { cause }),
  };
}

function mountsFault(given: unknown): string {
  if (given === undefined) return "is missing";
  return isPlainObject(given) ? "is empty" : "must be an object";
}

/** A program has no references. */
function isReferred(): boolean {
  return false;
}

interface Settings extends ProgramMountOptions {
  readonly source: unknown;
}

/** Undefined if it is no mount, which a program in JavaScript may pass. */
function toSettings(name: string, given: ProgramMount | undefined): Settings | undefined {
  if (isSource(given)) return { source: asDefinition(name, given) };
  if (ownsSource(given)) return { source: asDefinition(name, given.source) };
  if (!isPlainObject(given)) return undefined;
  return isSource(given.source) ? { ...given, source: asDefinition(name, given.source) } : given;
}

function isSource(value: unknown): value is Source {
  return (
    typeof value === "object" &&
    value !== null &&
    "list" in value &&
    typeof value.list === "function" &&
    "read" in value &&
    typeof value.read === "function"
  );
}

/** Whether it is no mount, but an object that changes its source, such as a memory: of a mount, only `layers` is a function. */
function ownsSource(value: unknown): value is { readonly source: Source } {
  return (
    typeof value === "object" &&
    value !== null &&
    "source" in value &&
    isSource(value.source) &&
    (!isPlainObject(value) ||
      Object.entries(value).some(([key, each]) => key !== "layers" && typeof each === "function"))
  );
}

/** A definition that opens a source which the program has opened already. */
function asDefinition(name: string, source: Source): SourceDefinition {
  return defineSource({
    name: "program",
    summary: "Resources of the program",
    scheme: "mount",
    options: (zod) => zod.object({}),
    openedOnce: true,
    base: () => (schemePattern.test(name) && !knownSchemes.has(name) ? `${name}://` : mountBase("mount", name)),
    async open() {
      await (source as Partial<DefinedResources>).checkTools?.();
      return source;
    },
  }) as SourceDefinition;
}

async function definitionOf(source: unknown): Promise<SourceDefinition | undefined> {
  if (typeof source !== "string") return source as SourceDefinition | undefined;
  if (!Object.hasOwn(sources, source)) return undefined;
  return (await sources[source as keyof typeof sources]()).default as SourceDefinition;
}
