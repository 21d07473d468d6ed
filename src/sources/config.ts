/** Environment variables and configuration files: which values are set, where, and which take effect; never the values of secrets. */
import type { z as Zod } from "zod";
import { entriesPage } from "../backends/entries-page.ts";
import { intOption } from "../lib/int-option.ts";
import { isDirectoryError, notFound, ResourceError } from "../errors.ts";
import { compareAddresses } from "../lib/address-order.ts";
import { createGlob, GlobError } from "../lib/glob.ts";
import { realPath } from "../lib/real-path.ts";
import { createTimeSlices } from "../lib/time-slices.ts";
import { directoryType } from "../resources.ts";
import { defineSource, pathOf, segmentsOf } from "../source.ts";
import type { Address, Entry, Part, Source, SourceProblem, Runtime } from "../source.ts";
import { createEffective, type EnvironmentValue } from "./config/effective.ts";
import { createFacts, type SettingFact, withoutSecret } from "./config/facts.ts";
import { type NamedFile, openFiles } from "./config/files.ts";
import { configFormatOf, configFormats, type ConfigFormat } from "./config/formats.ts";
import { formatName } from "./config/leaf.ts";
import { createConfigWatch } from "./config/watch.ts";
import { createSharedWatch } from "../backends/shared-watch.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** One key per process: fingerprints are comparable between mounts, not between runs. */
let processKey: Uint8Array | undefined;

function configOptions(z: typeof Zod) {
  const path = z
    .string()
    .max(1000)
    .refine(isPlainPath, { message: "must be a path below root, without dot segments and without a leading slash" });
  const pattern = z.string().min(1).max(200).refine(isPattern, { message: "is not a valid pattern" });
  return z
    .object({
      root: z.string().min(1).describe("Folder that contains the files").meta({ format: "path" }),
      files: z
        .array(
          z.union([
            path.refine((name) => configFormatOf(name) !== undefined, {
              message: `has a name without a known format; write { path, format } with one of ${configFormats.join(", ")}`,
            }),
            z.strictObject({
              path: path.describe("Path below root"),
              format: z.enum(configFormats).describe("File format"),
            }),
          ]),
        )
        .max(200)
        .default([])
        .describe("Files, as paths below root, or { path, format } where the name does not show the format"),
      env: z
        .union([z.boolean(), z.array(pattern).max(1000)])
        .default(true)
        .describe("Whether to serve environment variables, or patterns of the names to serve"),
      show: z
        .array(pattern)
        .max(1000)
        .default([])
        .describe("Names, or patterns of names, whose values are shown; all others are masked"),
      precedence: z
        .array(z.string().min(1).max(1000))
        .max(201)
        .optional()
        .describe("File paths and env, in order of precedence. Default: env, then the files from last to first"),
      variables: z
        .record(z.string().min(1).max(1000), z.string().min(1).max(1000))
        .default({})
        .describe("Environment variables that override a name in files: { PORT: server.port }"),
      maxBytes: intOption(z, 1024, 16 * 1024 * 1024, 256 * 1024).describe("Largest file that is read, in bytes"),
      pollMs: intOption(z, 100, 3_600_000, 2000).describe(
        "Polling interval while watched, where the system does not announce changes, in milliseconds",
      ),
    })
    .strict()
    .refine(
      ({ files, precedence = [] }) =>
        precedence.every((each) => each === "env" || files.some((file) => pathIn(file) === each)),
      {
        path: ["precedence"],
        message: 'contains a name that is neither "env" nor one of the files',
      },
    );
}

export type ConfigOptions = Zod.output<ReturnType<typeof configOptions>>;

export default defineSource<ConfigOptions>({
  name: "config",
  summary: "Settings from environment variables and configuration files, with secrets masked",
  scheme: "config",
  // Contains only names and fingerprints, which change with every start.
  searchable: false,
  options: configOptions,

  base: () => "config://",
  usesCredentials: () => true,

  open: async (options, runtime) => openConfig(options, runtime, runtime.env),
});

/** @internal `open` provides access to the files. */
export function openConfig(
  options: ConfigOptions,
  { wait, checkTrust }: Pick<Runtime, "wait" | "checkTrust">,
  env: Environment,
  open = openFiles,
): Source {
  processKey ??= process.getBuiltinModule("node:crypto").randomBytes(32);
  const { root, env: speaksOfEnv, show, variables, maxBytes, pollMs } = options;
  const named = options.files.map((file): NamedFile =>
    typeof file === "string" ? { path: file, format: configFormatOf(file) as ConfigFormat } : file,
  );
  const files = open({ root, files: named, maxBytes });
  const realFolder = realPath(root);
  const facts = createFacts(show, processKey);
  const patterns = typeof speaksOfEnv === "boolean" ? undefined : speaksOfEnv.map(createGlob);
  const watching = createSharedWatch(createConfigWatch({ root, files, pollMs, wait }));
  const precedence = options.precedence ?? ["env", ...named.map(({ path }) => path).toReversed()];
  const effective = createEffective({ files, facts, precedence, variables });

  /** Sorted by name. */
  function environment(): EnvironmentValue[] {
    if (speaksOfEnv === false) return [];
    return Object.entries(env)
      .flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]))
      .filter(({ name }) => patterns?.some((pattern) => pattern.matches(name)) ?? true)
      .sort((a, b) => compareAddresses(a.name, b.name));
  }

  const factOf = ({ name, value }: EnvironmentValue) => facts.of(name, value, { variable: name });

  /** Variables whose name can be part of an address. */
  const addressable = () => environment().filter(({ name }) => withoutSecret(name) === name);

  /** The listed entries, in order. Variables are not listed one by one; the environment is one entry. */
  async function entries(): Promise<Entry[]> {
    const there = await Promise.all(
      named.map(async (file) => ((await files.look(file).catch(isDenied)) === undefined ? [] : [fileEntry(file)])),
    );
    const all = [effectiveEntry, ...(speaksOfEnv === false ? [] : [envEntry]), ...there.flat()];
    return all.sort((a, b) => compareAddresses(a.path, b.path));
  }

  async function read(path: string): Promise<Part> {
    checkTrust?.();
    const [kind = "", ...rest] = segmentsOf(path);
    const file = kind === "file" ? named.find((each) => each.path === path.slice("file/".length)) : undefined;
    if (file) {
      const values: SettingFact[] = [];
      const turn = createTimeSlices();
      for (const { path: keys, value, line } of await files.read(file)) {
        values.push(facts.of(formatName(keys), value, { file: file.path, line }));
        await turn();
      }
      return json({ file: file.path, format: file.format, values });
    }
    if (path === "effective") return json(await effective(environment()));
    if (kind === "env" && speaksOfEnv !== false) {
      if (rest.length === 0) return json({ values: environment().map(factOf) });
      const found = rest.length === 1 ? addressable().find(({ name }) => name === rest[0]) : undefined;
      if (found) return json(factOf(found));
    }
    if (isDirectory(path, await entries())) throw isDirectoryError(path);
    throw notFound(path);
  }

  return {
    cursorAfter: ({ path }) => path,

    filesOf({ path }) {
      if (path === "effective") return named.map((file) => ({ path: `${realFolder}/${file.path}` }));
      return path.startsWith("file/") ? [{ path: `${realFolder}/${path.slice("file/".length)}` }] : [];
    },

    overviewOf({ path }) {
      if (path === "effective") return { path: "" };
      return path === "env" ? { path } : undefined;
    },

    async list(request) {
      return entriesPage(await entries(), request);
    },

    async read(at) {
      refuseQuery(at);
      return [await read(at.path)];
    },

    async stat(at) {
      refuseQuery(at);
      const all = await entries();
      const entry =
        all.find(({ path }) => path === at.path) ??
        addressable()
          .map(variableEntry)
          .find(({ path }) => path === at.path);
      if (entry) return entry;
      if (isDirectory(at.path, all)) return { path: at.path, mimeType: directoryType };
      throw notFound(at.path);
    },

    async children(at, request) {
      refuseQuery(at);
      const all = await entries();
      if (!isDirectory(at.path, all)) throw notFound(at.path);
      const start = at.path === "" ? 0 : at.path.length + 1;
      const direct = new Map<string, Entry>();
      for (const entry of all) {
        if (start > 0 && !entry.path.startsWith(`${at.path}/`)) continue;
        const slash = entry.path.indexOf("/", start);
        const path = slash < 0 ? entry.path : entry.path.slice(0, slash);
        direct.set(path, slash < 0 ? entry : { path, mimeType: directoryType });
      }
      return entriesPage([...direct.values()], request);
    },

    templates: [
      {
        template: "env/{name}",
        name: "Variable",
        description: "Whether an environment variable is set, and its value if values of that name are shown",
        mimeType: jsonType,
      },
      {
        template: "file/{+path}",
        name: "Configuration file",
        description: "The settings in a configuration file with their lines; masked values appear as fingerprints",
        mimeType: jsonType,
      },
    ],

    async complete({ variable, value }) {
      const typed = value.toLowerCase();
      const fitting = (names: readonly string[]) =>
        names
          .filter((name) => name.toLowerCase().includes(typed))
          .sort((a, b) => Number(!a.toLowerCase().startsWith(typed)) - Number(!b.toLowerCase().startsWith(typed)));
      if (variable === "name" && speaksOfEnv !== false)
        return fitting(addressable().map(({ name }) => name)).map((name) => ({
          value: name,
          reveals: { path: pathOf(["env", name]) },
        }));
      if (variable !== "path") return [];
      const there = new Set((await entries()).map(({ path }) => path));
      return fitting(named.map(({ path }) => path).filter((path) => there.has(`file/${path}`))).map((path) => ({
        value: path,
        reveals: { path: `file/${path}` },
      }));
    },

    async watch({ signal }) {
      return watching.watch(signal);
    },

    async problems() {
      const found = await Promise.all(
        named.map(async (file): Promise<SourceProblem[]> => {
          try {
            await files.read(file);
            return [];
          } catch (cause) {
            if (!(cause instanceof ResourceError)) throw cause;
            if (cause.kind === "not-found")
              return [
                { path: file.path, says: "does not exist", advice: "remove it from the config if that is intended" },
              ];
            const { line, says } = cause.details ?? {};
            return typeof line === "number" && typeof says === "string"
              ? [{ path: file.path, line, says: `is invalid: ${says}` }]
              : [{ path: file.path, says: `cannot be used: ${cause.message}` }];
          }
        }),
      );
      return found.flat();
    },

    close: () => watching.close(),
  };
}

const jsonType = "application/json";

const effectiveEntry: Entry = {
  path: "effective",
  title: "Effective settings",
  description: "Every setting with the file or variable that sets it, and what it overrides",
  mimeType: jsonType,
};
const envEntry: Entry = {
  path: "env",
  title: "Environment",
  description: "Environment variables: which are set, and the values that are shown",
  mimeType: jsonType,
};

function variableEntry({ name }: EnvironmentValue): Entry {
  return { path: pathOf(["env", name]), name, title: `Variable ${name}`, mimeType: jsonType };
}

function fileEntry({ path, format }: NamedFile): Entry {
  return {
    path: `file/${path}`,
    title: `Settings in ${path}`,
    description: `The settings in this ${format} file`,
    mimeType: jsonType,
  };
}

function json(value: unknown): Part {
  return { body: { text: JSON.stringify(value, undefined, 2) }, mimeType: jsonType, freshness: { scope: "private" } };
}

function refuseQuery({ path, query = {} }: Address): void {
  if (Object.keys(query).length > 0) throw notFound(path);
}

function isDirectory(path: string, entries: readonly Entry[]): boolean {
  return path === "" || entries.some((entry) => entry.path.startsWith(`${path}/`));
}

function isDenied(cause: unknown): undefined {
  if (!(cause instanceof ResourceError && cause.kind === "denied")) throw cause;
}

function pathIn(file: string | { readonly path: string }): string {
  return typeof file === "string" ? file : file.path;
}

function isPlainPath(path: string): boolean {
  return !path.includes("\0") && path.split("/").every((name) => name !== "" && name !== "." && name !== "..");
}

function isPattern(pattern: string): boolean {
  try {
    createGlob(pattern);
    return true;
  } catch (cause) {
    if (cause instanceof GlobError) return false;
    throw cause;
  }
}
