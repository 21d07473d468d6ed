import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { draftConfig } from "./draft-config.ts";
import { sqliteFilesIn } from "./sqlite-files.ts";
import { survey } from "./survey.ts";
import { surveyServices } from "./survey-services.ts";

let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "pressmark-services-"));
});

afterEach(() => rmSync(project, { recursive: true, force: true }));

function put(name: string, text: string): void {
  mkdirSync(dirname(join(project, name)), { recursive: true });
  writeFileSync(join(project, name), text);
}

function database(): unknown {
  const found = surveyServices(project).filter(({ source }) => source === "postgres");
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
  ])("%j is named by its variable: %s", (text, variable) => {
    put(".env", text);
    expect(database()).toEqual(variable && [`.env (${variable})`, { url: `\${env:${variable}}` }]);
  });

  it("is named once, by the file that overrides the others", () => {
    put(".env", "DATABASE_URL=postgres://h/a\n");
    put(".env.local", "DATABASE_URL=postgres://h/b\n");
    expect(database()).toEqual([".env.local (DATABASE_URL)", { url: "${env:DATABASE_URL}" }]);
  });

  it("is that of the container if its host is the name of a service, which only containers know", () => {
    put(".env", "DATABASE_URL=postgres://me:very-secret@db:5432/app\n");
    put("compose.yaml", "services: { db: { image: 'postgres:17', ports: ['5544:5432'] } }\n");
    expect(database()).toEqual([
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
      "environment: { POSTGRES_HOST_AUTH_METHOD: trust }, ports: ['5432:5432']",
      "postgres://postgres@127.0.0.1:5432/postgres",
      undefined,
    ],
  ])("is reached by its published port, with the password as a reference: %s", (settings, url, password) => {
    put("docker-compose.yml", `services: { store: { image: pgvector/pgvector:pg17, ${settings} } }\n`);
    expect(database()).toEqual([
      "docker-compose.yml (store)",
      { url, ...(password !== undefined && { password: `\${env:${password}}` }) },
    ]);
    expect(surveyServices(project)[0]!.needs).toContain("the container store of docker-compose.yml");
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
  ])("is recognized by the name of its image: %s %s", (image, isDatabase) => {
    put("compose.yaml", `services: { x: { image: '${image}' } }\n`);
    expect(database() !== undefined).toBe(isDatabase);
  });

  it("is the first that this machine can reach", () => {
    put(
      "compose.yaml",
      "services:\n  replica: { image: postgres }\n  main: { image: postgres, ports: ['5433:5432'] }\n  third: { image: postgres, ports: ['5434:5432'] }\n",
    );
    expect(database()).toMatchObject(["compose.yaml (main)", { url: "postgres://postgres@127.0.0.1:5433/postgres" }]);
  });

  it.each([
    ["app_${ENV}", "app_${env:ENV}", true],
    ["${A}-${B:-dev} $C", "${env:A}-${env:B:-dev}%20${env:C}", true],
    ["${ENV:?is missing}", "${env:ENV}", true],
    ["app_${ENV:+x}", "app_%24%7BENV%3A%2Bx%7D", false],
    ["${A:-${B}}", "%24%7BA%3A-${env:B}%7D", false],
  ])("has references where its name has them: %s", (name, expected, isActive) => {
    put(
      "compose.yaml",
      `services: { db: { image: postgres, ports: ['5432:5432'], environment: { POSTGRES_DB: '${name}' } } }\n`,
    );
    expect(database()).toMatchObject(["compose.yaml (db)", { url: `postgres://postgres@127.0.0.1:5432/${expected}` }]);
    expect(surveyServices(project)[0]!.needs !== undefined, "only proposed if not understood").toBe(isActive);
  });

  it("has the password of a variable only if this is all of it", () => {
    put(
      "compose.yaml",
      "services: { db: { image: postgres, ports: ['5432:5432'], environment: { POSTGRES_PASSWORD: '${A}very-secret${B}' } } }\n",
    );
    expect(database()).toMatchObject(["compose.yaml (db)", { password: "${env:POSTGRES_PASSWORD}" }]);
  });

  it("is only proposed if this machine cannot reach it", () => {
    put("compose.yaml", "services: { db: { image: postgres, ports: ['5432'] } }\n");
    expect(surveyServices(project)).toMatchObject([{ source: "postgres" }]);
    expect(surveyServices(project)[0]!.needs).toBeUndefined();
  });

  it("reads the ports of other services", () => {
    put(
      "compose.yaml",
      "services:\n  m: { image: prom/prometheus, ports: ['9091:9090'] }\n  s: { image: minio/minio }\n  d: { image: mysql }\n" +
        "  e: { image: quay.io/prometheus/node-exporter }\n  f: { image: minio/mc }\n  g: { image: victoriametrics/vmagent }\n",
    );
    expect(surveyServices(project).map(({ source, values }) => [source, values])).toEqual([
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
  ])("ignores what is not understood: %s", (text) => {
    put("compose.yaml", text);
    expect(surveyServices(project).length).toBeLessThanOrEqual(1);
  });
});

it("proposes each variable once, from the file that overrides the others", () => {
  for (const file of [".env", ".env.example"]) put(file, "S3_BUCKET=a\nPROMETHEUS_URL=http://h\n");
  expect(surveyServices(project).map(({ where }) => where)).toEqual([".env (S3_BUCKET)", ".env (PROMETHEUS_URL)"]);
});

describe("names in a draft", () => {
  it("cannot add lines to it", async () => {
    put(
      "compose.yaml",
      'services: { "db\\n  evil:\\n    source: memory": { image: postgres, ports: ["5432:5432"] } }\n',
    );
    put("a\nevil: [].db", "SQLite format 3\0");
    const text = await draftConfig({ project, findings: survey(project), schema: undefined });
    expect(text).toContain(String.raw`db\u000a  evil`);
    expect(JSON.stringify(parse(text))).not.toContain("memory");
  });
});

describe("SQLite files", () => {
  it("are found by their first bytes, within a few folders, each name once", () => {
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
    expect(sqliteFilesIn(project)).toEqual(["在庫.db", "data/dev.sqlite3"]);
  });

  it("are at most five", () => {
    for (let at = 0; at < 9; at += 1) put(`${at}.db`, "SQLite format 3\0");
    expect(sqliteFilesIn(project)).toHaveLength(5);
  });
});
