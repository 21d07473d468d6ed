/** The files below deploy/: the service, the compose file with its database, and the Kubernetes manifests. docs/deployment.md says what is not run. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { connect } from "../../src/client/connect.ts";
import { installPeers, modulesOf } from "../interop/install-peers.ts";
import { missingFor, type PostgresServer, startPostgres } from "./postgres.ts";
import { end, untilSaid } from "./processes.ts";

const root = join(import.meta.dirname, "../..");
const program = join(root, "bin/pressmark.js");
const deploy = (...path: readonly string[]) => join(root, "deploy", ...path);
const has = (name: string) => "CI" in process.env || spawnSync(name, ["--version"]).error === undefined;
const token = "0123456789abcdef0123456789abcdef";
let folder: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-deployment-")));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("the container has every optional package that a config can need", () => {
  const text = readFileSync(deploy("container/Containerfile"), "utf8").replaceAll("\\\n", "");
  const installed = /^ARG PACKAGES="(.*)"$/m.exec(text)?.[1]?.split(" ") ?? [];
  const { peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly peerDependencies: Readonly<Record<string, string>>;
  };
  // npm would install the newest version of a package, and refuse it if it is beyond the range; below 1.0 that happens with every minor version.
  const needed = Object.entries(peerDependencies).map(([name, range]) =>
    range.startsWith("^0.") ? `${name}@${range}` : name,
  );
  // vitest is for the tests of own sources.
  expect(needed.filter((each) => each !== "vitest" && !installed.includes(each))).toEqual([]);
});

describe.skipIf(spawnSync("systemd-analyze").error)("the service", () => {
  let unit: string;
  beforeAll(() => {
    unit = join(folder, "pressmark.service");
    const text = readFileSync(deploy("systemd/pressmark.service"), "utf8");
    writeFileSync(unit, text.replace("/usr/local/bin/pressmark", program));
  });

  it("is accepted by systemd", () => {
    const { stderr } = spawnSync("systemd-analyze", ["verify", unit], { encoding: "utf8" });
    expect(stderr.split("\n").filter((line) => line.includes("pressmark"))).toEqual([]);
  });

  it("exposes little, by systemd's own measure", () => {
    const words = ["security", "--offline=true", "--threshold=20", unit];
    const { status, stdout } = spawnSync("systemd-analyze", words, { encoding: "utf8" });
    expect([status, stdout.trim().split("\n").at(-1)]).toEqual([0, expect.stringContaining("Overall exposure level")]);
  });
});

describe("the compose file", () => {
  const file = deploy("compose/compose.yaml");

  it.skipIf(!has("docker-compose"))("is accepted by docker-compose", () => {
    execFileSync("docker-compose", ["--file", file, "config", "--quiet"], { stdio: "pipe" });
  });

  it("mounts files that are there", () => {
    const { services } = parse(readFileSync(file, "utf8")) as { services: Record<string, { volumes: string[] }> };
    const mounted = Object.values(services).flatMap(({ volumes }) => volumes.map((each) => each.split(":")[0]!));
    const missing = mounted.filter((each) => each.startsWith("./") && !existsSync(deploy("compose", each)));
    expect(missing).toEqual([]);
  });

  describe.skipIf(missingFor("debian") !== undefined)("with its database", () => {
    let postgres: PostgresServer;
    let served: ChildProcess | undefined;
    beforeAll(async () => {
      postgres = await startPostgres("debian");
      await postgres.run("postgres", "CREATE DATABASE shop");
      await postgres.run("shop", "CREATE TABLE products (id int PRIMARY KEY, name text)");
    });
    afterAll(async () => {
      if (served) await end(served);
      await postgres?.close();
    });

    it("creates a role with which the config serves the database, and cannot write", async () => {
      const secret = (name: string) => join(folder, name);
      writeFileSync(secret("database_password"), "of the reader\n");
      writeFileSync(secret("pressmark_token"), `${token}\n`);
      execFileSync(deploy("compose/create-role.sh"), {
        env: {
          PATH: `${postgres.bin}:${process.env["PATH"]}`,
          PGHOST: "127.0.0.1",
          PGPORT: String(postgres.port),
          PGPASSWORD: postgres.password,
          POSTGRES_USER: "postgres",
          POSTGRES_DB: "shop",
          DATABASE_PASSWORD_FILE: secret("database_password"),
        },
        stdio: "pipe",
      });
      const config = readFileSync(deploy("compose/pressmark.config.yaml"), "utf8")
        .replaceAll("/run/secrets", folder)
        .replace("@db:5432", `@127.0.0.1:${postgres.port}`);
      writeFileSync(join(folder, "pressmark.config.yaml"), config);
      const env = { ...process.env, XDG_STATE_HOME: join(folder, "state"), XDG_CACHE_HOME: join(folder, "cache") };
      const words = [program, "serve", "--port", "0", "--config", join(folder, "pressmark.config.yaml")];
      served = spawn(process.execPath, words, { env });
      let said = "";
      served.stdout!.on("data", (piece: Buffer) => (said += piece.toString()));
      await untilSaid("Add it to your host", served);
      const url = /serves at (\S+)/.exec(said)![1]!;
      const pressmark = await connect(url, { headers: { Authorization: `Bearer ${token}` } });
      const call = { caller: { id: "test" }, signal: AbortSignal.timeout(30_000) };
      const { items } = await pressmark.list({}, call);
      const uri = items.map((each) => each.uri).find((each) => each.endsWith("public/products/schema"));
      expect(JSON.stringify(await pressmark.read(uri!, call))).toContain("products_pkey");
      await pressmark.close();
      const reader = postgres.url("shop", "pressmark", "of the reader");
      const write = spawnSync(join(postgres.bin, "psql"), [reader, "--command=DELETE FROM products"], {
        encoding: "utf8",
      });
      expect(write.stderr).toContain("permission denied");
    });
  });
});

describe("the Kubernetes manifests", () => {
  const peers = { folder: "kubernetes", packages: ["kubernetes-types@1.30.0"], runsScripts: false };
  const names = readdirSync(deploy("kubernetes")).filter((name) => name !== "kustomization.yaml");
  const read = (name: string) => parse(readFileSync(deploy("kubernetes", name), "utf8")) as Manifest;
  const notInstalled = installPeers(peers);

  /** Types also find fields that do not exist, which schemas of Kubernetes allow. */
  function problemsOf(manifests: readonly Manifest[]): string {
    const lines = manifests.map((manifest, index) => {
      const group = manifest.apiVersion.includes("/") ? manifest.apiVersion.split(/[./]/)[0]! : "core";
      const type = join(modulesOf(peers), "kubernetes-types", group, manifest.apiVersion.split("/").at(-1)!);
      return `export const m${index}: import(${JSON.stringify(`${type}.d.ts`)}).${manifest.kind} = ${JSON.stringify(manifest)};`;
    });
    const file = join(folder, "manifests.ts");
    writeFileSync(file, lines.join("\n"));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const words = [tsc, "--noEmit", "--strict", "--allowImportingTsExtensions", "--types", "", file];
    return spawnSync(process.execPath, words, { encoding: "utf8", cwd: folder }).stdout;
  }

  it.skipIf(notInstalled !== undefined)("have only fields that Kubernetes knows, with values of their types", () => {
    expect(problemsOf(names.map(read))).toBe("");
    const deployment = JSON.stringify(read("deployment.yaml"));
    expect(
      problemsOf([JSON.parse(deployment.replace("readOnlyRootFilesystem", "readOnlyRoot")) as Manifest]),
    ).toContain("TS2");
    expect(problemsOf([JSON.parse(deployment.replace('"replicas":1', '"replicas":"1"')) as Manifest])).toContain("TS2");
  });

  it("are all in the kustomization, except for the example of a secret", () => {
    const { resources } = parse(readFileSync(deploy("kubernetes/kustomization.yaml"), "utf8")) as {
      resources: string[];
    };
    expect([...resources, "secret.example.yaml"].sort()).toEqual(names.sort());
  });

  it.skipIf(spawnSync("kubectl", ["version", "--client"]).error)("are rendered by kubectl", () => {
    const rendered = execFileSync("kubectl", ["kustomize", deploy("kubernetes")], { encoding: "utf8" });
    expect(rendered).toContain("image: registry.example/pressmark:0.1.0");
  });

  it("hold a config that is valid, whose secrets are in the example of the secret", () => {
    const { data } = read("config-map.yaml") as Manifest & { data: Record<string, string> };
    const { stringData } = read("secret.example.yaml") as Manifest & { stringData: Record<string, string> };
    for (const [name, value] of Object.entries(stringData)) writeFileSync(join(folder, name), value);
    const file = join(folder, "kubernetes.yaml");
    writeFileSync(file, data["pressmark.config.yaml"]!.replaceAll("/run/secrets/pressmark", folder));
    const { status, stderr } = spawnSync(process.execPath, [program, "config", file], { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
  });
});

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}
