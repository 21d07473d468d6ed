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
  return [
    ...git(project),
    ...docs(project),
    ...skills(project),
    ...settingsOf(project),
    ...compose(project),
    ...environment(project),
    ...prometheus(project),
    ...databases(project),
    ...analyses(project),
    ...website(project),
  ];
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

function git(project: string): ProjectFinding[] {
  // In a worktree or submodule it is a file.
  return isThere(project, ".git")
    ? [{ what: "git repository", where: ".git", source: "git", values: { root: "." } }]
    : [];
}

function docs(project: string): ProjectFinding[] {
  return docsFolders
    .filter((name) => isFolder(project, name))
    .map((name) => ({ what: "documentation", where: name, source: "docs", values: { root: name } }));
}

function skills(project: string): ProjectFinding[] {
  return skillFolders
    .filter((name) => holdsSkill(join(project, name)))
    .map((name) => ({ what: "skills", where: name, source: "skills", values: { root: name } }));
}

/** All settings files form one mount, because two would have the same URIs. */
function settingsOf(project: string): ProjectFinding[] {
  const files = [...composeFiles, ...settingsFiles].filter((name) => isThere(project, name));
  // Example files show that settings exist, but are not settings.
  const where = [...files, ...exampleFiles.filter((name) => isThere(project, name))];
  if (where.length === 0) return [];
  const values = { root: ".", ...(files.length > 0 && { files }) };
  return [{ what: "settings", where: where.join(", "), source: "config", values }];
}

function compose(project: string): ProjectFinding[] {
  return composeFiles
    .filter((name) => isThere(project, name))
    .flatMap((name) => {
      const images = read(project, name).matchAll(/^[ \t]*image:[ \t]*["']?([\w./-]+)/gm);
      const served = [...images].flatMap(([, image = ""]): ProjectFinding[] => {
        if (/postgres|pgvector|timescale|postgis/.test(image))
          return [
            {
              what: "PostgreSQL in a container",
              where: name,
              source: "postgres",
              values: { url: "${env:DATABASE_URL}" },
            },
          ];
        if (/\b(?:minio|garage|seaweedfs|localstack)\b/.test(image))
          return [
            {
              what: "object store in a container",
              where: name,
              source: "s3",
              values: { endpoint: "http://127.0.0.1:9000" },
            },
          ];
        if (/prometheus/.test(image))
          return [
            {
              what: "Prometheus in a container",
              where: name,
              source: "metrics",
              values: { url: "http://127.0.0.1:9090" },
            },
          ];
        if (/victoria-?metrics$/.test(image))
          return [
            {
              what: "VictoriaMetrics in a container",
              where: name,
              source: "metrics",
              values: { url: "http://127.0.0.1:8428" },
            },
          ];
        return [];
      });
      return once(served);
    });
}

function environment(project: string): ProjectFinding[] {
  return exampleFiles
    .filter((name) => isThere(project, name))
    .flatMap((name) => {
      const names = [...read(project, name).matchAll(/^[ \t]*(?:export[ \t]+)?([A-Z][A-Z0-9_]*)[ \t]*=/gm)].map(
        ([, each = ""]) => each,
      );
      const database = names.find((each) => /^(?:DATABASE_URL|POSTGRES(?:QL)?_URL|PG_?URL)$/.test(each));
      const buckets = [
        { source: "s3", what: "bucket of S3", name: names.find((each) => /^(?:AWS_)?S3_BUCKET(?:_NAME)?$/.test(each)) },
        {
          source: "gcs",
          what: "bucket of Google Cloud Storage",
          name: names.find((each) => /^(?:GCS|GCP|GOOGLE_CLOUD)_(?:STORAGE_)?BUCKET(?:_NAME)?$/.test(each)),
        },
      ];
      const driveFolder = names.find((each) => /^(?:GOOGLE_DRIVE|GDRIVE|DRIVE)_(?:ROOT_)?FOLDER(?:_ID)?$/.test(each));
      const prometheusUrl = names.find((each) => /^(?:PROMETHEUS|THANOS|MIMIR|VICTORIA_?METRICS)_URL$/.test(each));
      return [
        ...(database
          ? [
              {
                what: "database",
                where: `${name} (${database})`,
                source: "postgres",
                values: { url: `\${env:${database}}` },
              },
            ]
          : []),
        ...buckets.flatMap(({ source, what, name: named }): ProjectFinding[] =>
          named === undefined
            ? []
            : [{ what, where: `${name} (${named})`, source, values: { buckets: [`\${env:${named}}`] } }],
        ),
        ...(driveFolder === undefined
          ? []
          : [
              {
                what: "folder of Google Drive",
                where: `${name} (${driveFolder})`,
                source: "gdrive",
                values: { folders: [`\${env:${driveFolder}}`] },
              },
            ]),
        ...(prometheusUrl
          ? [
              {
                what: "Prometheus",
                where: `${name} (${prometheusUrl})`,
                source: "metrics",
                values: { url: `\${env:${prometheusUrl}}` },
              },
            ]
          : []),
      ];
    });
}

function prometheus(project: string): ProjectFinding[] {
  return prometheusFiles
    .filter((name) => isThere(project, name))
    .map((name) => ({ what: "Prometheus", where: name, source: "metrics", values: { url: "http://127.0.0.1:9090" } }));
}

function databases(project: string): ProjectFinding[] {
  const settings = databaseFiles
    .filter((name) => isThere(project, name))
    .map((name) => ({ what: "database", where: name, source: "postgres", values: { url: "${env:DATABASE_URL}" } }));
  const files = namesIn(project)
    .filter((entry) => entry.isFile() && /\.(?:sqlite3?|db)$/.test(entry.name))
    .map(({ name }) => ({ what: "SQLite database", where: name, source: "sqlite", values: { path: name } }));
  return [...settings, ...files];
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

function once(findings: readonly ProjectFinding[]): ProjectFinding[] {
  return findings.filter((each, index) => findings.findIndex((other) => other.source === each.source) === index);
}

function isThere(project: string, name: string): boolean {
  return statSync(join(project, name), { throwIfNoEntry: false }) !== undefined;
}

function isFolder(project: string, name: string): boolean {
  return statSync(join(project, name), { throwIfNoEntry: false })?.isDirectory() ?? false;
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
