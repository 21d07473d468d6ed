/** Detects what a project contains that could be served. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { placesBeyond } from "../backends/git/reach.ts";
import { findRepository } from "../backends/git/repository.ts";
import { skillFoldersIn } from "./skill-folders.ts";
import { namesIn, sqliteFilesIn } from "./sqlite-files.ts";
import { composeFiles, exampleFiles, surveyServices, textOf } from "./survey-services.ts";

export interface ProjectFinding {
  /** What it is, for people. */
  readonly what: string;
  /** Where it was found, relative to the project's folder. */
  readonly where: string;
  /** The source that serves it, whether or not it exists yet. */
  readonly source: string;
  /** Suggested options, as far as known. */
  readonly values: Readonly<Record<string, string | readonly string[]>>;
  /** The condition under which it can be served, for a database that may be absent on other machines. */
  readonly needs?: string;
}

/** Reads file names, the names of settings, and where services listen; keeps no value that may be a secret. */
export function survey(project: string): readonly ProjectFinding[] {
  const isThere = (name: string) => statSync(join(project, name), { throwIfNoEntry: false }) !== undefined;
  const docs = namesIn(project).filter((entry) => entry.isDirectory() && docsFolders.has(entry.name.normalize("NFC")));
  const services = surveyServices(project);
  return [
    ...repository(project),
    ...findings(
      docs.map(({ name }) => name),
      "documentation",
      "docs",
      asRoot,
    ),
    ...findings(skillFoldersIn(project), "skills", "skills", asRoot),
    ...settings([...composeFiles, ...settingsFiles].filter(isThere), exampleFiles.filter(isThere)),
    ...services,
    ...findings(prometheusFiles.filter(isThere), "Prometheus", "metrics", () => ({ url: "http://127.0.0.1:9090" })),
    ...(services.some(({ source }) => source === "postgres") ? [] : databaseSettings(project)),
    ...sqliteFilesIn(project).map((path): ProjectFinding => ({
      what: "SQLite database",
      where: path,
      source: "sqlite",
      values: { path },
      needs: `the file ${path}`,
    })),
    ...analyses(project),
    ...website(project),
  ];
}

const asRoot = (root: string) => ({ root });

/** The repository of this folder. In a worktree or submodule, .git is a file. */
function repository(project: string): ProjectFinding[] {
  const found = findRepository(project);
  if (!found || found.isBare) return [];
  const isOutside = placesBeyond(found, found.root).length > 0;
  return [
    {
      what: "git repository",
      where: ".git",
      source: "git",
      values: { root: "." },
      ...(isOutside && { needs: '"pressmark trust", because its git folder is outside this folder' }),
    },
  ];
}

/** One finding for each place. */
function findings(
  places: readonly string[],
  what: string,
  source: string,
  values: (where: string) => ProjectFinding["values"],
): ProjectFinding[] {
  return places.map((where) => ({ what, where, source, values: values(where) }));
}

const docsFolders: ReadonlySet<string> = new Set(
  "docs doc documentation guides handbook wiki ドキュメント 文書 資料 マニュアル 手順書 仕様書 設計書".split(" "),
);
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

/** Files that show a database whose address is set elsewhere. */
function databaseSettings(project: string): ProjectFinding[] {
  const where = databaseFiles.find((name) => /postgres|\bpg\b/.test(textOf(project, name)));
  return where === undefined
    ? []
    : [{ what: "database", where, source: "postgres", values: { url: "${env:DATABASE_URL}" } }];
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
  const home = /"homepage"\s*:\s*"(https:\/\/[^"\s]+)"/.exec(textOf(project, "package.json"))?.[1];
  if (home === undefined || /^https:\/\/(?:github|gitlab|bitbucket)\.(?:com|org)\//.test(home)) return [];
  return [{ what: "website", where: "package.json (homepage)", source: "web", values: { pages: [home] } }];
}
