/** Finds the PostgreSQL database of a project: at most one, since the others are mostly copies of it. */
import type { Detection, ProjectContainer, ProjectFolder, ProjectVariable } from "../../source.ts";

export function detectPostgres(project: ProjectFolder): Detection[] {
  const found = inVariables(project) ?? inContainers(project) ?? inSettings(project);
  return found ? [found] : [];
}

/** Preferred names first. Only these count if the value is not a URL, as in most example files. */
const databaseNames = ["DATABASE_URL", "POSTGRES_URL", "POSTGRESQL_URL", "PG_URL", "PGURL", "DATABASE_URI", "DB_URL"];

function isPostgres({ scheme }: ProjectVariable): boolean {
  return scheme === "postgres" || scheme === "postgresql";
}

function inVariables({ variables, containers }: ProjectFolder): Detection | undefined {
  const named = databaseNames.flatMap((name) => {
    const found = variables.find((each) => each.name === name);
    return found && (found.scheme === undefined || isPostgres(found)) ? [found] : [];
  });
  // Copies of a database for tests and migrations are not what a reader looks for.
  const others = variables.filter((each) => isPostgres(each) && !/TEST|SHADOW|DIRECT/.test(each.name));
  const found = named.find(isPostgres) ?? others[0] ?? named[0];
  // The name of a service is known only to other containers.
  if (!found || containers.some(({ service }) => service === found.host)) return undefined;
  return {
    what: "database",
    where: `${found.file} (${found.name})`,
    values: { url: `\${env:${found.name}}` },
    needs: `the environment variable ${found.name}, which ${found.file} names, and "pressmark trust"`,
  };
}

const databaseImages = new Set(["postgres", "postgresql", "postgis", "pgvector", "pgvecto", "timescaledb"]);

/** By the name of the image, which may end in a variant (`timescaledb-ha`) but in no other product (`postgres-exporter`). */
function isPostgresImage({ image }: ProjectContainer): boolean {
  const words = image.split(/[-_.]/);
  const at = words.findIndex((word) => databaseImages.has(word));
  const rest = words.slice(at + 1);
  return (
    at >= 0 && rest.every((word) => databaseImages.has(word) || /^(?:(?:pg)?\d+|ha|repmgr|alpine|oss|rs)$/.test(word))
  );
}

function inContainers({ containers }: ProjectFolder): Detection | undefined {
  const databases = containers.filter(isPostgresImage);
  const container = databases.find(({ portFor }) => portFor(5432) !== undefined) ?? databases[0];
  if (!container) return undefined;
  const { file, service, variable } = container;
  const port = container.portFor(5432);
  const user = variable("POSTGRES_USER") ?? "postgres";
  const database = variable("POSTGRES_DB") ?? user;
  const isOpen = variable("POSTGRES_HOST_AUTH_METHOD") === "trust";
  // An encoded "$" is an expression that was not understood.
  const isUsable = port !== undefined && !`${user}${database}`.includes("%24");
  const password = variable("POSTGRES_PASSWORD") ?? "${env:POSTGRES_PASSWORD}";
  return {
    what: "PostgreSQL in a container",
    where: `${file} (${service})`,
    values: {
      url: `postgres://${user}@127.0.0.1:${port ?? 5432}/${database}`,
      ...(!isOpen && { password }),
    },
    ...(isUsable && {
      needs: `the container ${service} of ${file}, ${isOpen ? "" : `the environment variable ${password.slice("${env:".length, -1)}, `}and "pressmark trust"`,
    }),
  };
}

const databaseFiles = [
  "prisma/schema.prisma",
  "drizzle.config.ts",
  "knexfile.js",
  "knexfile.ts",
  "alembic.ini",
  "config/database.yml",
];

/** Files that show a database whose address is set elsewhere. */
function inSettings({ text }: ProjectFolder): Detection | undefined {
  const where = databaseFiles.find((name) => /postgres|\bpg\b/.test(text(name)));
  return where === undefined ? undefined : { what: "database", where, values: { url: "${env:DATABASE_URL}" } };
}
