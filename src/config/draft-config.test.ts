import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { defineSource } from "../source.ts";
import { createMemory } from "../sources/memory.ts";
import { sources } from "../sources/index.ts";
import { draftConfig } from "./draft-config.ts";
import { loadConfig } from "./load-config.ts";
import { type ProjectFinding, survey } from "./survey.ts";
import type { Registry } from "./find-source.ts";

let root: string;
let project: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-draft-")));
  project = join(root, "my project");
  mkdirSync(project);
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(name: string, text = ""): void {
  mkdirSync(dirname(join(project, name)), { recursive: true });
  writeFileSync(join(project, name), text);
}

function build(): void {
  put(".git/HEAD", "ref: refs/heads/main");
  for (const name of ["objects", "refs"]) mkdirSync(join(project, ".git", name));
  put("docs/guide.md");
  put(".claude/skills/press/SKILL.md");
  put("skills/empty/README.md");
  put(
    "compose.yaml",
    "services:\n  db:\n    image: pgvector/pgvector:pg16\n  metrics:\n    image: prom/prometheus\n  more:\n    image: postgres:16\n",
  );
  put(".env.example", "# settings\nDATABASE_URL=postgres://user:very-secret@db/x\nexport PROMETHEUS_URL=\nOTHER=1\n");
  put("prometheus.yml");
  put("prisma/schema.prisma");
  put("data.sqlite3", `SQLite format 3\0`);
  put("Thumbs.db", "something else");
}

const known = (definition: ReturnType<typeof database>) => ({
  ...sources,
  postgres: async () => ({ default: { ...definition, detect: (await sources.postgres()).default.detect! } }),
});

function database() {
  return defineSource({
    name: "postgres",
    summary: "Tables of a database",
    scheme: "postgres",
    options: (z) =>
      z.object({
        url: z.string().describe("where the database is"),
        schema: z.string().describe("which schema is served"),
        limit: z.int().optional().describe("never said"),
      }),
    open: async () => createMemory({}).source,
  });
}

/** Fails if a source does. */
function find(folder = project, registry: Registry = sources): Promise<ProjectFinding[]> {
  return survey(folder, { registry, log: (_level, message) => expect.unreachable(message) });
}

async function draft(registry: Registry = sources): Promise<string> {
  return draftConfig({ project, findings: await find(project, registry), schema: "./schema.json", registry });
}

describe("the look at a project", () => {
  it("finds what could be served, by name", async () => {
    build();
    expect((await find()).map(({ what, where, source }) => `${what}: ${where} (${source})`)).toEqual([
      "settings: compose.yaml, .env.example (config)",
      "documentation: docs (docs)",
      "git repository: .git (git)",
      "Prometheus in a container: compose.yaml (metrics) (metrics)",
      "Prometheus: .env.example (PROMETHEUS_URL) (metrics)",
      "Prometheus: prometheus.yml (metrics)",
      "PostgreSQL in a container: compose.yaml (db) (postgres)",
      "skills: .claude/skills (skills)",
      "SQLite database: data.sqlite3 (sqlite)",
    ]);
    expect(JSON.stringify(await find())).not.toContain("very-secret");
  });

  it("finds documentation by Japanese names, in either form of Unicode", async () => {
    for (const name of ["資料", "ドキュメント".normalize("NFD"), "写真"]) put(`${name}/a.md`);
    expect(new Set((await find()).map(({ where }) => where))).toEqual(
      new Set(["資料", "ドキュメント".normalize("NFD")]),
    );
  });

  it("finds stores and the website, by the names of settings", async () => {
    put(".env.example", "S3_BUCKET=very-secret\nGCS_BUCKET=very-secret\nGOOGLE_DRIVE_FOLDER_ID=very-secret\n");
    put("compose.yaml", "services:\n  store:\n    image: minio/minio:latest\n");
    put("package.json", '{ "homepage": "https://docs.example.com/" }');
    expect((await find()).map(({ source, values }) => [source, values])).toEqual([
      ["config", { root: ".", files: ["compose.yaml"] }],
      ["gcs", { buckets: ["${env:GCS_BUCKET}"] }],
      ["gdrive", { folders: ["${env:GOOGLE_DRIVE_FOLDER_ID}"] }],
      ["s3", { endpoint: "http://127.0.0.1:9000" }],
      ["s3", { buckets: ["${env:S3_BUCKET}"] }],
      ["web", { pages: ["https://docs.example.com/"] }],
    ]);
    const text = await draft();
    expect(text).toContain('#   buckets: ["${env:S3_BUCKET}"] # Buckets to serve');
    expect(text).not.toContain("very-secret");
    put("package.json", '{ "homepage": "https://github.com/me/mine" }');
    expect((await find()).map(({ source }) => source)).not.toContain("web");
  });

  it("detects metrics, and lists the required options in the draft", async () => {
    put(".env.example", "MIMIR_URL=very-secret\n");
    put("compose.yaml", "services:\n  tsdb:\n    image: victoriametrics/victoria-metrics:v1.100.0\n");
    put("prometheus.yml", "scrape_configs: []\n");
    expect((await find()).flatMap(({ source, values }) => (source === "metrics" ? [values] : []))).toEqual([
      { url: "http://127.0.0.1:8428" },
      { url: "${env:MIMIR_URL}" },
      { url: "http://127.0.0.1:9090" },
    ]);
    const text = await draft();
    expect(text).toContain('#   url: "${env:MIMIR_URL}" # Address of the server');
    expect(text).not.toContain("very-secret");
  });

  it("detects analyses by several models", async () => {
    mkdirSync(join(project, "src/services"), { recursive: true });
    writeFileSync(join(project, "src/services/wall-bounce-analyzer.ts"), "");
    expect((await find()).filter(({ source }) => source === "analysis")).toEqual([
      {
        what: "analyses by several models",
        where: "src/services/wall-bounce-analyzer.ts",
        source: "analysis",
        values: { path: ".pressmark/analysis.db" },
      },
    ]);
  });

  it("finds nothing in an empty folder, nor in one that is not there", async () => {
    expect(await find()).toEqual([]);
    expect(await find(join(project, "nowhere"))).toEqual([]);
  });
});

describe("the config that is written for it", () => {
  it("serves the folder, and does not mention sources that do not exist", async () => {
    build();
    const text = await draft({ file: sources.file });
    expect(parse(text)).toEqual({ mounts: { "my-project": { source: "file", root: "." } } });
    expect(text.split("\n")[0]).toBe("# yaml-language-server: $schema=./schema.json");
    expect(text).not.toMatch(/postgres|metrics|sqlite|source: (?:git|docs|skills|config)/);
  });

  it("serves the skills it finds, hidden or not", async () => {
    put(".claude/skills/press/SKILL.md");
    const only = { "my-project": { source: "file", root: "." }, skills: { source: "skills", root: ".claude/skills" } };
    expect(parse(await draft())).toEqual({ mounts: only });
    put("skills/ink/SKILL.md");
    expect(parse(await draft())).toMatchObject({
      mounts: { skills: { source: "skills", roots: [".claude/skills", "skills"] } },
    });
  });

  it("can be used as it is, without trust", async () => {
    build();
    const file = join(project, "pressmark.config.yaml");
    writeFileSync(file, await draft());
    const loaded = await loadConfig(
      { file, named: false },
      { from: project, env: {}, stateFolder: join(root, "state") },
    );
    const names = "config" in loaded && loaded.config.mounts.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["files", "my-project", "skills"]));
  });

  it("can be used with the settings of the server uncommented", async () => {
    expect(parse((await draft()).replace(/^# server:/m, "server:").replaceAll(/^#( {3}\w+:)/gm, "$1"))).toMatchObject({
      server: { host: "127.0.0.1", port: 7357 },
    });
  });

  it("suggests an existing source, with its required options", async () => {
    put(".env.example", "DATABASE_URL=x\n");
    const text = await draft(known(database()));
    expect(text).toContain(`  # Database (.env.example (DATABASE_URL)): Tables of a database.
  # Needs the environment variable DATABASE_URL, which .env.example names, and "pressmark trust".
  # postgres:
  #   source: postgres
  #   url: "\${env:DATABASE_URL}" # where the database is
  #   schema: # which schema is served
`);
    expect(text).not.toContain("never said");
    expect(Object.keys((parse(text) as { mounts: object }).mounts)).toEqual(["my-project"]);
  });

  it("serves databases where they are there", async () => {
    put(".env", "DATABASE_URL=postgres://user:very-secret@h/x\n");
    put("data/在庫.db", `SQLite format 3\0`);
    expect(parse(await draft())).toMatchObject({
      mounts: {
        postgres: { source: "postgres", url: "${env:DATABASE_URL}", optional: true },
        在庫: { source: "sqlite", path: "data/在庫.db", optional: true },
      },
    });
  });

  it("proposes documentation as a collection of each folder's name", async () => {
    build();
    put("guides/one.md");
    const text = await draft();
    expect(text).toContain("# docs:\n  #   source: docs\n  #   root: docs # Folder with the documents\n");
    const uncommented = text
      .replaceAll(/^( *)# (docs|guides):$/gm, "$1$2:")
      .replaceAll(/^( *)# ( +(?:source: docs|root: (?:docs|guides)\b))/gm, "$1$2");
    expect(parse(uncommented)).toMatchObject({
      mounts: { docs: { source: "docs", root: "docs" }, guides: { source: "docs", root: "guides" } },
    });
  });
});
