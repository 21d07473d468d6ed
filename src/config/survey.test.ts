import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { draftConfig } from "./draft-config.ts";
import { defineSource } from "../source.ts";
import { sources } from "../sources/index.ts";
import { createMemory } from "../sources/memory.ts";
import type { Registry } from "./find-source.ts";
import { createProjectFolder } from "./project-folder.ts";
import { survey } from "./survey.ts";

let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "pressmark-services-"));
});

afterEach(() => rmSync(project, { recursive: true, force: true }));

function put(name: string, text: string): void {
  mkdirSync(dirname(join(project, name)), { recursive: true });
  writeFileSync(join(project, name), text);
}

/** Fails if a source does. */
function find(...names: readonly (keyof typeof sources)[]) {
  const registry = Object.fromEntries(names.map((name) => [name, sources[name]]));
  return survey(project, { registry, log: (_level, message) => expect.unreachable(message) });
}

const findServices = () => find("metrics", "postgres", "s3");

async function database(): Promise<unknown> {
  const found = await find("postgres");
  expect(found.length).toBeLessThanOrEqual(1);
  expect(JSON.stringify(found)).not.toContain("very-secret");
  return found[0] && [found[0].where, found[0].values];
}

describe("the database of an .env file", () => {
  it.each([
    ["DATABASE_URL=postgres://me:very-secret@localhost/app", "DATABASE_URL"],
    ["export DATABASE_URL = 'postgresql://me:very-secret@10.0.0.7:5433/app?sslmode=require'", "DATABASE_URL"],
    ["TEST_DATABASE_URL=postgres://a/t\nREPORTS_DSN=postgres://me:very-secret@h/r", "REPORTS_DSN"],
    ["DATABASE_URL=mysql://me:very-secret@h/a\nPOSTGRES_URL=postgres://h/b", "POSTGRES_URL"],
    ["DATABASE_URL=\n", "DATABASE_URL"],
    ["DATABASE_URL=$OTHER_URL", "DATABASE_URL"],
    ["DATABASE_URL=mysql://me:very-secret@h/a", undefined],
    ["DATABASE_URL=file:./dev.db", undefined],
    ["# DATABASE_URL=postgres://h/a", undefined],
    ["TEST_DATABASE_URL=postgres://h/a", undefined],
  ])("%j is named by its variable: %s", async (text, variable) => {
    put(".env", text);
    expect(await database()).toEqual(variable && [`.env (${variable})`, { url: `\${env:${variable}}` }]);
  });

  it("is named once, by the file that overrides the others", async () => {
    put(".env", "DATABASE_URL=postgres://h/a\n");
    put(".env.local", "DATABASE_URL=postgres://h/b\n");
    expect(await database()).toEqual([".env.local (DATABASE_URL)", { url: "${env:DATABASE_URL}" }]);
  });

  it("is that of the container if its host is the name of a service, which only containers know", async () => {
    put(".env", "DATABASE_URL=postgres://me:very-secret@db:5432/app\n");
    put("compose.yaml", "services: { db: { image: 'postgres:17', ports: ['5544:5432'] } }\n");
    expect(await database()).toEqual([
      "compose.yaml (db)",
      { url: "postgres://postgres@127.0.0.1:5544/postgres", password: "${env:POSTGRES_PASSWORD}" },
    ]);
  });
});

describe("the database of a compose file", () => {
  it.each([
    [
      "environment: { POSTGRES_USER: app, POSTGRES_PASSWORD: very-secret, POSTGRES_DB: 'shop db' }, ports: ['5432:5432']",
      "postgres://app@127.0.0.1:5432/shop%20db",
      "POSTGRES_PASSWORD",
    ],
    [
      "environment: ['POSTGRES_USER=${DB_USER:-app}', 'POSTGRES_PASSWORD=${DB_PASS:-very-secret}'], ports: ['127.0.0.1:${PORT:-6000}:5432/tcp']",
      "postgres://${env:DB_USER:-app}@127.0.0.1:6000/${env:DB_USER:-app}",
      "DB_PASS",
    ],
    [
      "environment: [POSTGRES_PASSWORD], env_file: .env, ports: [{ target: 5432, published: '7000' }]",
      "postgres://${env:POSTGRES_USER}@127.0.0.1:7000/${env:POSTGRES_DB}",
      "POSTGRES_PASSWORD",
    ],
    [
      "environment: { POSTGRES_USER: 'app:very-secret', POSTGRES_DB: '${DB_PASSWORD:-very-secret}' }, ports: ['5432:5432']",
      "postgres://${env:POSTGRES_USER}@127.0.0.1:5432/${env:DB_PASSWORD}",
      "POSTGRES_PASSWORD",
    ],
    [
      "environment: { POSTGRES_HOST_AUTH_METHOD: trust }, ports: ['5432:5432']",
      "postgres://postgres@127.0.0.1:5432/postgres",
      undefined,
    ],
  ])("is reached by its published port, with the password as a reference: %s", async (settings, url, password) => {
    put("docker-compose.yml", `services: { store: { image: pgvector/pgvector:pg17, ${settings} } }\n`);
    expect(await database()).toEqual([
      "docker-compose.yml (store)",
      { url, ...(password !== undefined && { password: `\${env:${password}}` }) },
    ]);
    expect((await findServices())[0]!.needs).toContain("the container store of docker-compose.yml");
  });

  it.each([
    ["postgres:17", true],
    ["docker.io/bitnami/postgresql:17", true],
    ["localhost:5000/team/postgis@sha256:00", true],
    ["timescale/timescaledb-ha:pg17", true],
    ["${IMAGE:-pgvector/pgvector:pg17}", true],
    ["tensorchord/pgvecto-rs", true],
    ["prometheuscommunity/postgres-exporter", false],
    ["postgrest/postgrest", false],
    ["prodrigestivill/postgres-backup-local", false],
    ["postgres/pgadmin", false],
  ])("is recognized by the name of its image: %s %s", async (image, isDatabase) => {
    put("compose.yaml", `services: { x: { image: '${image}' } }\n`);
    expect((await database()) !== undefined).toBe(isDatabase);
  });

  it("is the first that this machine can reach", async () => {
    put(
      "compose.yaml",
      "services:\n  replica: { image: postgres }\n  main: { image: postgres, ports: ['5433:5432'] }\n  third: { image: postgres, ports: ['5434:5432'] }\n",
    );
    expect(await database()).toMatchObject([
      "compose.yaml (main)",
      { url: "postgres://postgres@127.0.0.1:5433/postgres" },
    ]);
  });

  it.each([
    ["app_${ENV}", "app_${env:ENV}", true],
    ["${A}-${B:-dev} $C", "${env:A}-${env:B:-dev}%20${env:C}", true],
    ["${ENV:?is missing}", "${env:ENV}", true],
    ["app_${ENV:+x}", "app_%24%7BENV%3A%2Bx%7D", false],
    ["${A:-${B}}", "%24%7BA%3A-${env:B}%7D", false],
  ])("has references where its name has them: %s", async (name, expected, isActive) => {
    put(
      "compose.yaml",
      `services: { db: { image: postgres, ports: ['5432:5432'], environment: { POSTGRES_DB: '${name}' } } }\n`,
    );
    expect(await database()).toMatchObject([
      "compose.yaml (db)",
      { url: `postgres://postgres@127.0.0.1:5432/${expected}` },
    ]);
    expect((await findServices())[0]!.needs !== undefined, "only proposed if not understood").toBe(isActive);
  });

  it("has the password of a variable only if this is all of it", async () => {
    put(
      "compose.yaml",
      "services: { db: { image: postgres, ports: ['5432:5432'], environment: { POSTGRES_PASSWORD: '${A}very-secret${B}' } } }\n",
    );
    expect(await database()).toMatchObject(["compose.yaml (db)", { password: "${env:POSTGRES_PASSWORD}" }]);
  });

  it("is only proposed if this machine cannot reach it", async () => {
    put("compose.yaml", "services: { db: { image: postgres, ports: ['5432'] } }\n");
    expect(await findServices()).toMatchObject([{ source: "postgres" }]);
    expect((await findServices())[0]!.needs).toBeUndefined();
  });

  it("reads the ports of other services", async () => {
    put(
      "compose.yaml",
      "services:\n  m: { image: prom/prometheus, ports: ['9091:9090'] }\n  s: { image: minio/minio }\n  d: { image: mysql }\n" +
        "  e: { image: quay.io/prometheus/node-exporter }\n  f: { image: minio/mc }\n  g: { image: victoriametrics/vmagent }\n",
    );
    expect((await findServices()).map(({ source, values }) => [source, values])).toEqual([
      ["metrics", { url: "http://127.0.0.1:9091" }],
      ["s3", { endpoint: "http://127.0.0.1:9000" }],
    ]);
  });

  it.each([
    "services: [",
    "services: 7",
    "- a",
    "services: { a: null, b: { image: 7 }, c: { image: postgres, ports: 7, environment: 7 } }",
    `a: &a [x]\nservices: ${"[".repeat(500)}`,
  ])("ignores what is not understood: %s", async (text) => {
    put("compose.yaml", text);
    expect((await findServices()).length).toBeLessThanOrEqual(1);
  });
});

it("proposes each variable once, from the file that overrides the others", async () => {
  for (const file of [".env", ".env.example"]) put(file, "S3_BUCKET=a\nPROMETHEUS_URL=http://h\n");
  expect((await findServices()).map(({ where }) => where)).toEqual([".env (PROMETHEUS_URL)", ".env (S3_BUCKET)"]);
});

describe("a source that fails", () => {
  const failing = defineSource({
    name: "failing",
    summary: "Fails",
    scheme: "failing",
    options: (z) => z.object({}),
    detect() {
      throw new Error("no such thing");
    },
    open: async () => createMemory({}).source,
  });

  it.each<[string, Registry[string]]>([
    ["in its detection", async () => ({ default: failing })],
    ["to load", () => Promise.reject(new Error("no such thing"))],
  ])("%s is logged, and the others are called", async (_where, load) => {
    put("a.db", "SQLite format 3\0");
    const logged: unknown[] = [];
    const found = await survey(project, {
      registry: { failing: load, sqlite: sources.sqlite },
      log: (...line) => logged.push(line),
    });
    expect(found.map(({ where }) => where)).toEqual(["a.db"]);
    expect(logged).toEqual([["warn", expect.any(String), { source: "failing", cause: "Error: no such thing" }]]);
  });
});

it("runs no code of the project, such as the detection of a package", async () => {
  const name = "pressmark-source-other";
  put("package.json", JSON.stringify({ dependencies: { [name]: "1" } }));
  put(`node_modules/${name}/package.json`, JSON.stringify({ name, type: "module", exports: "./index.js" }));
  put(`node_modules/${name}/index.js`, "globalThis.ranCodeOfPackage = true;\n");
  put("pressmark.config.yaml", `mounts: { other: { source: ${name} } }\n`);
  await survey(project, { log: () => undefined });
  expect(globalThis).not.toHaveProperty("ranCodeOfPackage");
});

describe("the variables of a container", () => {
  it.each([
    ["REDIS_PASSWORD: very-secret", "${env:REDIS_PASSWORD}"],
    ["REDIS_PASSWORD: '${PASS:-very-secret}'", "${env:PASS}"],
    ["REDIS_PASSWORD: $PASS", "${env:PASS}"],
    ["REDIS_PASSWORD: a${PASS}", "${env:REDIS_PASSWORD}"],
    ["BACKEND: 'redis://:very-secret@h/0'", "${env:BACKEND}"],
    ["REDIS_USER: app", "app"],
  ])("are references where they may be secrets: %s", (environment, expected) => {
    put("compose.yaml", `services: { r: { image: redis, environment: { ${environment} } } }\n`);
    const [container] = createProjectFolder(project).containers;
    expect(container!.variable(environment.split(":")[0]!)).toBe(expected);
  });
});

describe("names in a draft", () => {
  it("cannot add lines to it", async () => {
    put(
      "compose.yaml",
      'services: { "db\\n  evil:\\n    source: memory": { image: postgres, ports: ["5432:5432"] } }\n',
    );
    put("a\nevil: [].db", "SQLite format 3\0");
    const text = await draftConfig({ project, findings: await find("postgres", "sqlite"), schema: undefined });
    expect(text).toContain(String.raw`db\u000a  evil`);
    expect(JSON.stringify(parse(text))).not.toContain("memory");
  });
});

describe("SQLite files", () => {
  it("are found by their first bytes, within a few folders, each name once", async () => {
    for (const name of [
      "在庫.db",
      "data/dev.sqlite3",
      "data/deep/er/far.db",
      "other/dev.sqlite3",
      "node_modules/x.db",
      ".cache/y.db",
    ])
      put(name, "SQLite format 3\0…");
    put("Thumbs.db", "not one");
    put("empty.db", "");
    expect((await find("sqlite")).map(({ where, name }) => [where, name])).toEqual([
      ["在庫.db", "在庫"],
      ["data/dev.sqlite3", "data/dev"],
    ]);
  });

  it("are at most five", async () => {
    for (let at = 0; at < 9; at += 1) put(`${at}.db`, "SQLite format 3\0");
    expect(await find("sqlite")).toHaveLength(5);
  });
});
