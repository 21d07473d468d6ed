/** Finds databases and other services that the .env and compose files of a project name. Copies no value that may be a secret. */
import { join } from "node:path";
import { parse } from "yaml";
import { smallText } from "../backends/git/repository.ts";
import type { ProjectFinding } from "./survey.ts";

export const composeFiles = ["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"];
export const exampleFiles = [".env.example", ".env.sample", ".env.template"];
const envFiles = [".env.local", ".env.development.local", ".env.development", ".env", ...exampleFiles];
const maxBytes = 256 * 1024;

/** A setting of an .env file. Of its value, only the scheme and the host of a URL are kept. */
interface Variable {
  readonly name: string;
  readonly file: string;
  /** Undefined if the value is not a URL. */
  readonly scheme: string | undefined;
  readonly host: string | undefined;
}

/** A container of a compose file that this machine can reach. */
interface Container {
  readonly file: string;
  readonly service: string;
  readonly image: string;
  /** The port of this machine that leads to a port of the container. */
  portFor(target: number): number | undefined;
  /** An environment variable of the container, as a text for the config; undefined if it is not set. */
  variable(name: string): string | undefined;
}

/** One PostgreSQL database, and proposals for object stores and metrics. */
export function surveyServices(project: string): ProjectFinding[] {
  const variables = envFiles.flatMap((file) => variablesIn(file, textOf(project, file)));
  const names = new Set<string>();
  const distinct = variables.filter(({ name }) => !names.has(name) && names.add(name));
  const containers = composeFiles.flatMap((file) => containersIn(file, textOf(project, file)));
  return [
    ...[postgresVariable(variables, containers) ?? postgresContainer(containers)].filter(
      (found) => found !== undefined,
    ),
    ...containers.flatMap(serviceOf),
    ...distinct.flatMap(settingOf),
  ];
}

/** Preferred names first. Only these count if the value is not a URL, as in most example files. */
const databaseNames = ["DATABASE_URL", "POSTGRES_URL", "POSTGRESQL_URL", "PG_URL", "PGURL", "DATABASE_URI", "DB_URL"];

function postgresVariable(
  variables: readonly Variable[],
  containers: readonly Container[],
): ProjectFinding | undefined {
  const isPostgres = ({ scheme }: Variable) => scheme === "postgres" || scheme === "postgresql";
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
    source: "postgres",
    values: { url: `\${env:${found.name}}` },
    needs: `the environment variable ${found.name}, which ${found.file} names, and "pressmark trust"`,
  };
}

const databaseImages = new Set(["postgres", "postgresql", "postgis", "pgvector", "pgvecto", "timescaledb"]);

/** By the name of the image, which may end in a variant (`timescaledb-ha`) but in no other product (`postgres-exporter`). */
function isPostgresImage({ image }: Container): boolean {
  const words = imageName(image).split(/[-_.]/);
  const at = words.findIndex((word) => databaseImages.has(word));
  const rest = words.slice(at + 1);
  return (
    at >= 0 && rest.every((word) => databaseImages.has(word) || /^(?:(?:pg)?\d+|ha|repmgr|alpine|oss|rs)$/.test(word))
  );
}

/** The last part without tag and digest: `minio` for `quay.io/minio/minio:latest`. */
function imageName(image: string): string {
  return image.slice(image.lastIndexOf("/") + 1).split(/[:@]/, 1)[0]!;
}

function postgresContainer(containers: readonly Container[]): ProjectFinding | undefined {
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
  const password =
    /^\$\{env:(\w+)(?::-[\w.-]*)?\}$/.exec(variable("POSTGRES_PASSWORD") ?? "")?.[1] ?? "POSTGRES_PASSWORD";
  return {
    what: "PostgreSQL in a container",
    where: `${file} (${service})`,
    source: "postgres",
    values: {
      url: `postgres://${user}@127.0.0.1:${port ?? 5432}/${database}`,
      ...(!isOpen && { password: `\${env:${password}}` }),
    },
    ...(isUsable && {
      needs: `the container ${service} of ${file}, ${isOpen ? "" : `the environment variable ${password}, `}and "pressmark trust"`,
    }),
  };
}

function serviceOf({ file, service, image, portFor }: Container): ProjectFinding[] {
  const found = (what: string, source: string, option: string, target: number): ProjectFinding[] => [
    {
      what: `${what} in a container`,
      where: `${file} (${service})`,
      source,
      values: { [option]: `http://127.0.0.1:${portFor(target) ?? target}` },
    },
  ];
  const name = imageName(image);
  if (/^(?:minio|garage|seaweedfs|localstack(?:-pro)?)$/.test(name))
    return found("object store", "s3", "endpoint", 9000);
  if (/^victoria-?metrics$/.test(name)) return found("VictoriaMetrics", "metrics", "url", 8428);
  return name === "prometheus" ? found("Prometheus", "metrics", "url", 9090) : [];
}

/** By the name of a variable: what it holds, the source, and the source's option, which may be a list. */
const settings: readonly (readonly [
  variable: RegExp,
  what: string,
  source: string,
  option: string,
  isList?: boolean,
])[] = [
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

function settingOf({ name, file }: Variable): ProjectFinding[] {
  const [, what, source, option, isList] = settings.find(([pattern]) => pattern.test(name)) ?? [];
  if (what === undefined) return [];
  const reference = `\${env:${name}}`;
  return [
    { what, where: `${file} (${name})`, source: source!, values: { [option!]: isList ? [reference] : reference } },
  ];
}

function variablesIn(file: string, text: string): Variable[] {
  const lines = text.matchAll(
    /^[ \t]*(?:export[ \t]+)?([A-Z][A-Z0-9_]*)[ \t]*=[ \t]*["']?([a-z][a-z0-9+.-]*:[^\s"']*)?/gm,
  );
  return Array.from(lines, ([, name = "", url]) => ({
    name,
    file,
    scheme: url?.slice(0, url.indexOf(":")),
    host: url !== undefined && URL.canParse(url) ? new URL(url).hostname : undefined,
  }));
}

function containersIn(file: string, text: string): Container[] {
  const services = entriesOf(entriesOf(parsedYaml(text)).find(([key]) => key === "services")?.[1]);
  return services.flatMap(([service, value]) => {
    const { image, ports, environment, env_file } = (value ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof image !== "string") return [];
    const variables = new Map(
      Array.isArray(environment)
        ? environment.map((line) => splitAt(String(line), "="))
        : entriesOf(environment).map(([key, each]) => [key, each === null ? undefined : String(each)] as const),
    );
    return [
      {
        file,
        service,
        image: withDefaults(image),
        portFor: (target) => publishedPort(Array.isArray(ports) ? ports : [], target),
        variable(name) {
          // A variable without a value is taken from the environment of compose, as one of an env_file may be.
          if (variables.has(name)) return toReference(variables.get(name) ?? `\${${name}}`);
          return env_file === undefined ? undefined : `\${env:${name}}`;
        },
      },
    ];
  });
}

function publishedPort(ports: readonly unknown[], target: number): number | undefined {
  for (const port of ports) {
    const long = entriesOf(port);
    const [host, container] =
      long.length > 0
        ? ["published", "target"].map((name) => String(long.find(([key]) => key === name)?.[1]))
        : withDefaults(String(port))
            .replace(/\/\w+$/, "")
            .split(":")
            .slice(-2);
    if (Number(container) === target && Number(host) > 0) return Number(host);
  }
  return undefined;
}

/** A value of a compose file as a part of a URL in the config: `a b${NAME:-x}` becomes `a%20b${env:NAME:-x}`. */
function toReference(value: string): string {
  const variables = value.matchAll(/\$(?:([A-Z_a-z]\w*)|\{([A-Z_a-z]\w*)(?::?-([\w.-]*)|:?\?[^{}]*)?\})/g);
  let text = "";
  let end = 0;
  for (const { 0: whole, 1: plain, 2: name = plain, 3: fallback, index } of variables) {
    text += encodeURIComponent(value.slice(end, index));
    text += fallback === undefined ? `\${env:${name}}` : `\${env:${name}:-${fallback}}`;
    end = index + whole.length;
  }
  return text + encodeURIComponent(value.slice(end));
}

function withDefaults(value: string): string {
  return value.replaceAll(/\$\{\w+:?-([^}]*)\}/g, "$1");
}

function splitAt(text: string, mark: string): readonly [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

function parsedYaml(text: string): unknown {
  try {
    return parse(text, { merge: true, logLevel: "silent" });
  } catch {
    return undefined;
  }
}

/** The text of a small regular file, or an empty text. */
export function textOf(project: string, name: string): string {
  return smallText(join(project, name), maxBytes) ?? "";
}
