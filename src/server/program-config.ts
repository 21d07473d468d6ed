/** The config of a program that passes its mounts as values. */
import { checkAccess } from "../config/access.ts";
import { check } from "../config/check.ts";
import { checkMounts, takeChecked } from "../config/check-mounts.ts";
import type { Config, MountConfig } from "../config/config.ts";
import type { MountInput, CommonMountInput } from "../config/define-config.ts";
import { mountBase, schemePattern } from "../config/mount-base.ts";
import { formatPath, type KeyPath, type Problem } from "../config/problem.ts";
import { isPlainObject } from "../config/references.ts";
import {
  type Limits,
  ruleSchema,
  type RuleSettings,
  type SearchSettings,
  type ServerSettings,
} from "../config/schema.ts";
import type { DefinedResources } from "../define/define-resources.ts";
import { invalid, quote } from "../errors.ts";
import type { Layer } from "../layer.ts";
import { defineSource, type Runtime, type Source, type SourceDefinition } from "../source.ts";
import { sources } from "../sources/index.ts";

/** Besides the keys that every mount of a config may have. */
export interface ProgramMountOptions {
  /** URI prefix, ending in "/". Default: `notes://` for a mount named "notes" with a source of the program. */
  readonly base?: string;
  /** Replaces the standard layers: time limits, retries, cache and limits. */
  readonly layers?: (runtime: Runtime) => readonly Layer[];
}

/** A source of the program, or a mount as in a config file: `{ source: "file", root: "docs" }`. */
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
  /** False: no index. */
  readonly search?: SearchSettings | false;
  readonly server?: Pick<ServerSettings, "tools" | "pageSize">;
}

/** Schemes that programs interpret in their own way. */
const knownSchemes: ReadonlySet<string> = new Set(
  "about blob data file ftp git http https javascript mailto mount pressmark ssh ws wss".split(" "),
);

/** Throws "invalid" with all problems of the mounts. */
export async function createProgramConfig(
  { mounts, rules = [], limits, redact, search, server = {} }: ProgramConfigOptions,
  folder: string,
): Promise<Config> {
  const { z: zod } = await import("zod");
  const problems: Problem[] = [];
  const checked: MountConfig[] = [];
  if (Object.keys(mounts).length === 0)
    problems.push({ path: ["mounts"], message: "is empty; add a mount, such as { notes: source }" });
  for (const [name, given] of Object.entries(mounts)) {
    const asWritten = toSettings(name, given);
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
  const isReferred = () => false;
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
    throw invalid(problems.map(({ path, message }) => `${formatPath(path)}: ${message}`).join("\n"));
  return {
    folder,
    mounts: checked,
    faulty: [],
    server,
    search: search === false ? { enabled: false } : (search ?? {}),
    sets: [],
    access,
    permissions: [],
    withheld: [],
    redact: (text) => text,
    shown: {},
    refusal: ([, name], cause) =>
      name === undefined ? cause : invalid(`the mount ${quote(String(name))}: ${cause.message}`),
  };
}

interface Settings extends ProgramMountOptions {
  readonly source: unknown;
}

/** Undefined if it is no mount, which a program in JavaScript may pass. */
function toSettings(name: string, given: ProgramMount | undefined): Settings | undefined {
  if (isSource(given)) return { source: asDefinition(name, given) };
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
