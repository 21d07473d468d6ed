/** Generates configs from strangers and later changes, and decides independently of our rules what each may do. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";

type Json = Readonly<Record<string, unknown>>;

export interface FoundConfig {
  readonly mounts: Readonly<Record<string, Json>>;
  readonly redact: unknown;
  readonly limits: Json | undefined;
  readonly search: Json | undefined;
  readonly server: Json | undefined;
}

/** What can change around a config. */
export interface Surroundings {
  /** Target of `link`, relative to the folder. */
  readonly link: string;
  /** Value of the variable WHERE. */
  readonly where: string;
  /** Number of times each file was rewritten. */
  readonly files: Readonly<Record<FileName, number>>;
  /** Folders that git ignores. */
  readonly ignored: readonly string[];
}

export const fileNames = ["server.mjs", "hook.mjs", "run.sh", "own.mjs", "lib/helper.mjs", "own.txt"] as const;
export type FileName = (typeof fileNames)[number];

export const start: Surroundings = {
  link: "notes",
  where: "docs",
  files: { "server.mjs": 0, "hook.mjs": 0, "run.sh": 0, "own.mjs": 0, "lib/helper.mjs": 0, "own.txt": 0 },
  ignored: ["build"],
};

export const secrets = {
  SECRET_A: "alpha-secret-of-the-environment",
  SECRET_B: "bravo-secret-of-the-environment",
} as const;

export interface Folder {
  /** Writes everything that changed. */
  layOut(around: Surroundings): void;
}

/** Each program only reports its own name. */
export function createFolder(root: string): Folder {
  const folder = join(root, "project");
  for (const name of ["docs", "notes", "more", "build", ".hidden", "lib", "../outside"])
    mkdirSync(join(folder, name), { recursive: true });
  for (const name of ["docs/a.md", "notes/n.md", "more/m.md", "build/b.md", ".hidden/h.md", "../outside/o.md", ".env"])
    writeFileSync(join(folder, name), `content of ${name}`);
  writeFileSync(join(root, "outside/token"), "secret-of-a-file-outside");
  writeFileSync(join(folder, "settings.yaml"), "a: 1\n");
  const written = new Map<string, string>();

  function write(name: string, content: string): void {
    if (written.get(name) !== content) writeFileSync(join(folder, name), content);
    written.set(name, content);
  }

  return {
    layOut({ link, files, ignored }) {
      write(".gitignore", `${[...ignored, "*.db"].join("\n")}\n`);
      for (const name of fileNames) write(name, contentOf(name, files[name]));
      if (written.get("link") === link) return;
      rmSync(join(folder, "link"), { force: true });
      symlinkSync(link, join(folder, "link"));
      written.set("link", link);
    },
  };
}

function contentOf(name: FileName, version: number): string {
  if (name === "own.txt") return `secret-of-an-own-file-${version}`;
  if (name !== "own.mjs") return `// ${name} ${version}\nexport const version = ${version};\n`;
  return `import { version } from "./lib/helper.mjs";
    (globalThis.pressmarkRan ??= []).push("own.mjs ${version}");
    export default { name: "own", summary: "x", scheme: "own", options: (z) => z.looseObject({}), open: async () => ({}), version };`;
}

const rootNames = ["docs", "notes", "more", ".", "build", ".hidden", "link", "../outside", "${env:WHERE}"];
const texts = [
  "text",
  "${env:SECRET_A}",
  "a ${env:SECRET_B}",
  "${file:own.txt}",
  "${file:../outside/token}",
  "${env:NOPE:-x}",
  "$${env:SECRET_A}",
];

const optional = { requiredKeys: ["source"] as "source"[] };
const one = <T extends string>(...of: readonly T[]) => fc.constantFrom(...of);

const mount: fc.Arbitrary<Json> = fc.oneof(
  fc.record(
    {
      source: one("file", "docs"),
      root: one(...rootNames),
      hidden: fc.boolean(),
      ignore: fc.boolean(),
      allow: fc.constantFrom([], [".env"], ["*.key"]),
      exclude: fc.constantFrom(["*.key"], ["*.tmp"]),
      redact: fc.boolean(),
    },
    { requiredKeys: ["source", "root"] },
  ),
  fc.record({
    source: one("skills"),
    roots: fc.array(one("docs", "notes", "build", ".hidden", "link"), { minLength: 1, maxLength: 2 }),
  }),
  fc.record({
    source: one("memory"),
    resources: fc.dictionary(one("a", "b"), one(...texts), { minKeys: 1, noNullPrototype: true }),
  }),
  fc.record(
    {
      source: one("sqlite"),
      path: one("keep.sqlite", "app.db", "link/x.sqlite", "../outside/x.sqlite"),
      rows: fc.constantFrom(true, false, ["t"]),
    },
    { requiredKeys: ["source", "path"] },
  ),
  fc.record(
    {
      source: one("config"),
      root: one("."),
      files: fc.subarray(["settings.yaml", ".env"]),
      env: fc.constantFrom(true, false, ["PUBLIC_*"]),
      show: fc.constantFrom([], ["*"]),
    },
    { requiredKeys: ["source", "root"] },
  ),
  fc.record(
    {
      source: one("mcp"),
      command: one("node", "./run.sh", "sh"),
      args: fc.subarray(["server.mjs", "--import=./hook.mjs", "-c", "exec ./run.sh", "${env:WHERE}/../server.mjs"]),
      env: fc.dictionary(one("KEY", "NOTE"), one(...texts), { noNullPrototype: true }),
      cwd: one("."),
    },
    { requiredKeys: ["source", "command", "cwd"] },
  ),
  fc.record({
    source: one("mcp"),
    url: one("https://one.example/", "https://two.example/"),
    headers: fc.dictionary(one("X"), one(...texts), { noNullPrototype: true }),
  }),
  fc.record({ source: one("web"), hosts: fc.subarray(["one.example", "two.example"]) }),
  fc.record({ source: one("./own.mjs"), city: one("a", "b") }, optional),
  fc.record({ source: one("data") }),
);

const section = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 3 });

const introspection = { url: "https://idp.example/introspection", clientId: "pressmark" };

export const foundConfig: fc.Arbitrary<FoundConfig> = fc.record({
  mounts: fc.dictionary(one("one", "two", "three"), mount, { minKeys: 1, noNullPrototype: true }),
  redact: section(fc.constantFrom<unknown>(true, false)),
  limits: section(fc.constant({ maxAtOnce: 3 })),
  search: section(
    fc.record(
      {
        enabled: fc.boolean(),
        embeddings: fc.record({
          url: one("http://127.0.0.1:9/v1", "https://one.example/v1"),
          model: one("m"),
          apiKey: one("${env:SECRET_A}", "${env:SECRET_B}", "plain"),
        }),
      },
      { requiredKeys: [] },
    ),
  ),
  server: section(
    fc
      .record(
        {
          host: one("127.0.0.1", "0.0.0.0"),
          port: fc.constantFrom(1, 2),
          token: one("${env:SECRET_A}", "${env:SECRET_B}", "a-token-of-good-length"),
          allowedHosts: fc.subarray(["one.example", "${env:SECRET_A}"], { minLength: 1 }),
          allowedOrigins: fc.subarray(["https://one.example"]),
          tools: fc.constantFrom<unknown>(true, ["save_set"], ["read_resource"]),
          publicUrl: one("https://one.example", "https://two.example"),
          tracing: fc.constantFrom<unknown>(
            { endpoint: "http://127.0.0.1:4318" },
            { endpoint: "https://one.example", headers: { "x-key": "${env:SECRET_A}" }, uris: true },
          ),
          auth: fc.constantFrom<unknown>(
            "builtin",
            [{ issuer: "https://idp.example" }],
            [{ issuer: "https://idp.example", introspection: { ...introspection, clientSecret: "${env:SECRET_A}" } }],
          ),
        },
        { requiredKeys: [] },
      )
      // It cannot be checked without the other.
      .map(({ auth, ...server }) =>
        server["publicUrl"] === undefined ? server : { ...server, ...(auth !== undefined && { auth }) },
      ),
  ),
});

/** One event. */
export type Step =
  | { readonly kind: "trust" | "forget" }
  | { readonly kind: "config"; readonly config: FoundConfig }
  | { readonly kind: "mount"; readonly name: string; readonly mount: Json }
  | { readonly kind: "remove"; readonly name: string; readonly option: number }
  | {
      readonly kind: "section";
      readonly from: FoundConfig;
      readonly section: "redact" | "search" | "server" | "limits";
    }
  | { readonly kind: "file"; readonly file: FileName }
  | { readonly kind: "link"; readonly to: string }
  | { readonly kind: "where"; readonly to: string }
  | { readonly kind: "ignored"; readonly folders: readonly string[] };

export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("trust" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("forget" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("config" as const), config: foundConfig }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("mount" as const), name: one("one", "two", "three"), mount }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("remove" as const), name: one("one", "two", "three"), option: fc.nat(9) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("section" as const),
      from: foundConfig,
      section: fc.constantFrom("redact" as const, "search" as const, "server" as const, "limits" as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("file" as const), file: one(...fileNames) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("link" as const), to: one("docs", "notes", "build", "../outside") }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("where" as const), to: one("docs", "notes", "build", "../outside") }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("ignored" as const), folders: fc.subarray(["build", "notes", "more"]) }),
  },
);

export interface State {
  readonly config: FoundConfig;
  readonly around: Surroundings;
}

/** The state after a step. Granting trust does not change it. */
export function after({ config, around }: State, each: Step): State {
  switch (each.kind) {
    case "config":
      return { config: each.config, around };
    case "mount":
      return { config: { ...config, mounts: { ...config.mounts, [each.name]: each.mount } }, around };
    case "remove": {
      const options = Object.entries(config.mounts[each.name] ?? {});
      const optionals = options.filter(
        ([name]) => !["source", "root", "roots", "path", "resources", "command", "url", "hosts"].includes(name),
      );
      const [gone] = optionals[each.option % Math.max(1, optionals.length)] ?? [];
      if (gone === undefined) return { config, around };
      const rest = Object.fromEntries(options.filter(([name]) => name !== gone));
      return { config: { ...config, mounts: { ...config.mounts, [each.name]: rest } }, around };
    }
    case "section":
      return { config: { ...config, [each.section]: each.from[each.section] }, around };
    case "file":
      return { config, around: { ...around, files: { ...around.files, [each.file]: around.files[each.file] + 1 } } };
    case "link":
      return { config, around: { ...around, link: each.to } };
    case "where":
      return { config, around: { ...around, where: each.to } };
    case "ignored":
      return { config, around: { ...around, ignored: each.folders } };
    default:
      return { config, around };
  }
}

/** Whether a mount does only what every folder may do. */
export function isHarmless(options: Json, around: Surroundings): boolean {
  if (JSON.stringify(options).replaceAll("$${", "").includes("${")) return false;
  const { root, path, roots = [] } = options as { root?: string; path?: string; roots?: string[] };
  const paths = [root, path, ...roots].filter((each) => each !== undefined);
  if (!paths.every((each) => isOwn(each, around))) return false;
  const { source, hidden, ignore, allow = [], rows = false, show = [], env = true, files = [] } = options;
  switch (source) {
    case "file":
    case "docs":
      return hidden !== true && ignore !== false && isNothing(allow);
    case "sqlite":
      return isNothing(rows);
    case "config":
      return isNothing(env) && isNothing(show) && !(files as readonly string[]).includes(".env");
    default:
      return source === "memory" || source === "data" || source === "skills";
  }
}

function isNothing(value: unknown): boolean {
  return value === false || (Array.isArray(value) && value.length === 0);
}

/** Whether a path is in the folder, and neither hidden nor ignored. */
function isOwn(path: string, { link, ignored }: Surroundings): boolean {
  const [first = "", ...rest] = path.split("/");
  const led = first === "link" ? [link, ...rest].join("/") : path;
  if (led.startsWith("../") || led.startsWith(".hidden")) return false;
  return !led.endsWith(".db") && !ignored.includes(led.split("/")[0]!);
}

/** Equal as JSON, ignoring the order of keys. */
function isSame(left: unknown, right: unknown): boolean {
  return isDeepStrictEqual(
    ...([left, right].map((each) => JSON.parse(JSON.stringify(each) ?? "null")) as [unknown, unknown]),
  );
}

/** Whether a mount may act because of a grant: it is exactly what was shown. */
export function isAsGranted(name: string, granted: State | undefined, now: State): boolean {
  const before = granted?.config.mounts[name];
  const options = now.config.mounts[name];
  if (!granted || !before || !options || isHarmless(before, granted.around)) return false;
  if (!isSame(before, options)) return false;
  if (options["redact"] === undefined && granted.config.redact !== now.config.redact) return false;
  return isSameAround(JSON.stringify(options), granted.around, now.around);
}

/** Compares only what the text mentions. */
function isSameAround(text: string, before: Surroundings, now: Surroundings): boolean {
  const isNamed = (file: FileName) => text.includes(file) || (text.includes("own.mjs") && file === "lib/helper.mjs");
  const mentions = (word: string) => text.includes(word);
  return (
    fileNames.every((file) => !isNamed(file) || before.files[file] === now.files[file]) &&
    (!mentions("link") || before.link === now.link) &&
    // Before "/../" it leads to the same program.
    (!mentions('WHERE}"') || before.where === now.where) &&
    // Ignored now, but not when it was shown.
    now.ignored.every(
      (folder) =>
        before.ignored.includes(folder) ||
        !(
          mentions(`"${folder}"`) ||
          (mentions("link") && now.link === folder) ||
          (mentions('WHERE}"') && now.where === folder)
        ),
    )
  );
}

/** The same for a section, with the settings elsewhere that affect it. */
export function isSectionAsGranted(name: "server" | "search", granted: State | undefined, now: State): boolean {
  const [before, options] = [granted?.config[name], now.config[name]];
  if (!granted || !before || !options || !isSame(before, options)) return false;
  const tells = ["host", "allowedHosts", "allowedOrigins", "publicUrl", "auth", "embeddings"].some(
    (setting) => setting in options,
  );
  return !tells || (isSame(granted.config.mounts, now.config.mounts) && granted.config.redact === now.config.redact);
}
