/** Detects what a project contains that could be served. */
import { type Dirent, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { holdsSkill, skillFolders } from "./skill-folders.ts";

export interface ProjectFinding {
  /** What it is, for people. */
  readonly what: string;
  /** Where it was found, relative to the project's folder. */
  readonly where: string;
  /** The source that serves it, whether or not it exists yet. */
  readonly source: string;
  /** Suggested options, as far as known. */
  readonly values: Readonly<Record<string, string | readonly string[]>>;
}

/** Reads only file names, and the names of settings in a few files; never a value. */
export function survey(project: string): readonly ProjectFinding[] {
  const isThere = (name: string) => statSync(join(project, name), { throwIfNoEntry: false }) !== undefined;
  const isFolder = (name: string) => statSync(join(project, name), { throwIfNoEntry: false })?.isDirectory() ?? false;
  const databases = namesIn(project).filter((entry) => entry.isFile() && /\.(?:sqlite3?|db)$/.test(entry.name));
  return [
    // In a worktree or submodule it is a file.
    ...findings([".git"].filter(isThere), "git repository", "git", () => ({ root: "." })),
    ...findings(docsFolders.filter(isFolder), "documentation", "docs", asRoot),
    ...findings(
      skillFolders.filter((name) => holdsSkill(join(project, name))),
      "skills",
      "skills",
      asRoot,
    ),
    ...settings([...composeFiles, ...settingsFiles].filter(isThere), exampleFiles.filter(isThere)),
    ...composeFiles.filter(isThere).flatMap((name) => containersIn(name, read(project, name))),
    ...exampleFiles.filter(isThere).flatMap((name) => variablesIn(name, read(project, name))),
    ...findings(prometheusFiles.filter(isThere), "Prometheus", "metrics", () => ({ url: "http://127.0.0.1:9090" })),
    ...findings(databaseFiles.filter(isThere), "database", "postgres", () => ({ url: "${env:DATABASE_URL}" })),
    ...findings(
      databases.map(({ name }) => name),
      "SQLite database",
      "sqlite",
      (path) => ({ path }),
    ),
    ...analyses(project),
    ...website(project),
  ];
}

const asRoot = (root: string) => ({ root });

/** One finding for each place. */
function findings(
  places: readonly string[],
  what: string,
  source: string,
  values: (where: string) => ProjectFinding["values"],
): ProjectFinding[] {
  return places.map((where) => ({ what, where, source, values: values(where) }));
}

const docsFolders = ["docs", "doc", "documentation", "guides", "handbook", "wiki"];
const composeFiles = ["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"];
const exampleFiles = [".env.example", ".env.sample", ".env.template"];
/** Later entries take precedence, as in most programs. */
const settingsFiles = [
  ...["json", "yaml", "yml", "toml", "ini"].flatMap((ending) => [`config.${ending}`, `settings.${ending}`]),
  ...["default", "production", "local"].flatMap((name) =>
    ["json", "yaml", "yml", "toml"].map((ending) => `config/${name}.${ending}`),
  ),
  "application.properties",
  "application.yml",
  "src/main/resources/application.properties",
  "src/main/resources/application.yml",
  ".env",
  ".env.local",
];
const prometheusFiles = ["prometheus.yml", "prometheus.yaml", "prometheus/prometheus.yml", "monitoring/prometheus.yml"];
const databaseFiles = [
  "prisma/schema.prisma",
  "drizzle.config.ts",
  "knexfile.js",
  "knexfile.ts",
  "alembic.ini",
  "config/database.yml",
];

/** All settings files form one mount, because two would have the same URIs. */
function settings(files: readonly string[], examples: readonly string[]): ProjectFinding[] {
  // Example files show that settings exist, but are not settings.
  const where = [...files, ...examples].join(", ");
  const values = { root: ".", ...(files.length > 0 && { files }) };
  return where === "" ? [] : [{ what: "settings", where, source: "config", values }];
}

/** By the image of a container: what it is, its source, and a suggested option. */
const containers: readonly (readonly [
  image: RegExp,
  what: string,
  source: string,
  values: ProjectFinding["values"],
])[] = [
  [/postgres|pgvector|timescale|postgis/, "PostgreSQL", "postgres", { url: "${env:DATABASE_URL}" }],
  [/\b(?:minio|garage|seaweedfs|localstack)\b/, "object store", "s3", { endpoint: "http://127.0.0.1:9000" }],
  [/prometheus/, "Prometheus", "metrics", { url: "http://127.0.0.1:9090" }],
  [/victoria-?metrics$/, "VictoriaMetrics", "metrics", { url: "http://127.0.0.1:8428" }],
];

function containersIn(where: string, text: string): ProjectFinding[] {
  const images = text.matchAll(/^[ \t]*image:[ \t]*["']?([\w./-]+)/gm);
  const served = [...images].flatMap(([, image = ""]): ProjectFinding[] => {
    const [, what, source, values] = containers.find(([pattern]) => pattern.test(image)) ?? [];
    return values ? [{ what: `${what} in a container`, where, source: source!, values }] : [];
  });
  return once(served);
}

/** By the name of a variable: what it holds, the source, and the source's option, which may be a list. */
const variables: readonly (readonly [
  variable: RegExp,
  what: string,
  source: string,
  option: string,
  isList?: boolean,
])[] = [
  [/^(?:DATABASE_URL|POSTGRES(?:QL)?_URL|PG_?URL)$/, "database", "postgres", "url"],
  [/^(?:AWS_)?S3_BUCKET(?:_NAME)?$/, "bucket of S3", "s3", "buckets", true],
  [
    /^(?:GCS|GCP|GOOGLE_CLOUD)_(?:STORAGE_)?BUCKET(?:_NAME)?$/,
    "bucket of Google Cloud Storage",
    "gcs",
    "buckets",
    true,
  ],
  [/^(?:GOOGLE_DRIVE|GDRIVE|DRIVE)_(?:ROOT_)?FOLDER(?:_ID)?$/, "folder of Google Drive", "gdrive", "folders", true],
  [/^(?:PROMETHEUS|THANOS|MIMIR|VICTORIA_?METRICS)_URL$/, "Prometheus", "metrics", "url"],
];

function variablesIn(file: string, text: string): ProjectFinding[] {
  const set = text.matchAll(/^[ \t]*(?:export[ \t]+)?([A-Z][A-Z0-9_]*)[ \t]*=/gm);
  const names = [...set].map(([, name = ""]) => name);
  return variables.flatMap(([pattern, what, source, option, isList]): ProjectFinding[] => {
    const variable = names.find((each) => pattern.test(each));
    if (variable === undefined) return [];
    const reference = `\${env:${variable}}`;
    const values = { [option]: isList ? [reference] : reference };
    return [{ what, where: `${file} (${variable})`, source, values }];
  });
}

/** Recognises projects that ask several models the same question by their file names. */
function analyses(project: string): ProjectFinding[] {
  const where = ["", "src", "src/services", "docs"]
    .flatMap((folder) => namesIn(join(project, folder)).map(({ name }) => (folder === "" ? name : `${folder}/${name}`)))
    .find((path) => /wall[-_ ]?bounce/i.test(path));
  const values = { path: ".pressmark/analysis.db" };
  return where === undefined ? [] : [{ what: "analyses by several models", where, source: "analysis", values }];
}

/** The homepage in package.json, unless it is the code repository. */
function website(project: string): ProjectFinding[] {
  const home = /"homepage"\s*:\s*"(https:\/\/[^"\s]+)"/.exec(read(project, "package.json"))?.[1];
  if (home === undefined || /^https:\/\/(?:github|gitlab|bitbucket)\.(?:com|org)\//.test(home)) return [];
  return [{ what: "website", where: "package.json (homepage)", source: "web", values: { pages: [home] } }];
}

function once(found: readonly ProjectFinding[]): ProjectFinding[] {
  return found.filter((each, index) => found.findIndex((other) => other.source === each.source) === index);
}

function namesIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function read(project: string, name: string): string {
  try {
    return readFileSync(join(project, name), "utf8").slice(0, 256 * 1024);
  } catch {
    return "";
  }
}
