/**
 * deploy/container/Containerfile, built and run by podman: not root, on a read-only root file system, without a network. No registry is needed:
 * the base image has the name of the official one, and is made from this machine's programs.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modernBody } from "../hostile/attacker.ts";

const root = join(import.meta.dirname, "../..");
const containerfile = join(root, "deploy/container/Containerfile");
const isThere = "CI" in process.env || ["podman", "runc"].every((name) => !spawnSync(name, ["--version"]).error);
const token = "0123456789abcdef0123456789abcdef";
const image = "localhost/pressmark:test";

describe.skipIf(!isThere)("the container (needs podman and runc)", () => {
  let folder: string;
  let container: string;

  /** With a store of its own, which goes with the folder. */
  function podman(...words: readonly string[]): string {
    const store = ["--root", join(folder, "store"), "--runroot", join(folder, "run"), "--runtime", "runc"];
    return execFileSync("podman", [...store, ...words], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
  }

  const inside = (script: string) => podman("exec", container, "node", "--input-type=module", "-e", script);

  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-container-")));
    const base = /^ARG NODE_IMAGE=(\S+)/m.exec(readFileSync(containerfile, "utf8"))![1]!;
    makeBase(join(folder, "base"));
    execFileSync("tar", ["-C", join(folder, "base"), "-cf", join(folder, "base.tar"), "."]);
    podman("import", "--quiet", join(folder, "base.tar"), base);
    const context = join(folder, "context");
    mkdirSync(context);
    execFileSync("npm", ["pack", "--silent", "--pack-destination", context], { cwd: root });
    copyFileSync(join(root, ".dockerignore"), join(context, ".dockerignore"));
    writeFileSync(join(context, "left-out"), "not for the image");
    const arguments_ = ["PACKAGES=", "DEBIAN_PACKAGES="].flatMap((each) => ["--build-arg", each]);
    const build = [
      "build",
      "--isolation",
      "chroot",
      "--network",
      "host",
      "--pull=never",
      "--format",
      "docker",
      "--quiet",
    ];
    podman(...build, ...npmSettings(folder), ...arguments_, "-t", image, "-f", containerfile, context);

    mkdirSync(join(folder, "notes"));
    writeFileSync(join(folder, "notes/hello.md"), "# Hello\n");
    writeFileSync(join(folder, "token"), `${token}\n`);
    writeFileSync(
      join(folder, "pressmark.config.yaml"),
      "mounts: { notes: { source: file, root: /srv/notes } }\nserver: { token: '${file:/run/secrets/token}' }\n",
    );
    // The user of the container is another one.
    chmodSync(folder, 0o755);
    const volumes = [
      `${folder}/notes:/srv/notes:ro`,
      `${folder}/token:/run/secrets/token:ro`,
      `${folder}/pressmark.config.yaml:/etc/pressmark/pressmark.config.yaml:ro`,
    ].flatMap((each) => ["-v", each]);
    const restrictions = [
      "--read-only",
      "--cap-drop",
      "all",
      "--security-opt",
      "no-new-privileges",
      "--network",
      "none",
    ];
    // Limits that a test machine may set, and no timer of systemd.
    const limits = ["--ulimit", "nofile=4096:4096", "--ulimit", "nproc=1000:1000", "--no-healthcheck"];
    container = podman("run", "--detach", ...restrictions, ...limits, ...volumes, image);
  }, 300_000);

  afterAll(() => {
    try {
      // Also what a failed build has left.
      podman("rm", "--all", "--force", "--volumes");
      podman("rmi", "--all", "--force");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("becomes healthy by its own health check", () => {
    const check = JSON.parse(podman("inspect", image, "--format", "{{json .HealthCheck}}")) as { Test: string[] };
    const [how, ...command] = check.Test;
    expect(how).toBe("CMD");
    inside("while (!(await fetch('http://127.0.0.1:7357/health/live').catch(() => undefined))?.ok);");
    podman("exec", container, ...command);
    // The same check, where nobody listens.
    const elsewhere = command.map((word) => word.replace("7357", "7356"));
    expect(() => podman("exec", container, ...elsewhere)).toThrow();
  });

  it("reads a resource over HTTP", () => {
    const uri = "file:///srv/notes/hello.md";
    const headers = {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": "resources/read",
      "Mcp-Name": uri,
    };
    const sent = JSON.stringify({
      method: "POST",
      headers,
      body: JSON.stringify(modernBody("resources/read", { uri })),
    });
    expect(inside(`console.log(await (await fetch("http://127.0.0.1:7357/mcp", ${sent})).text())`)).toContain(
      "# Hello",
    );
  });

  it("is not root, has no capabilities, and can write to nothing but its state, its cache and /tmp", () => {
    const script = `
      import { readFileSync, writeFileSync } from "node:fs";
      const refused = (path) => { try { writeFileSync(path, ""); return false; } catch ({ code }) { return code; } };
      console.log(JSON.stringify({
        uid: process.getuid(),
        capabilities: /CapEff:\\s*(\\w+)/.exec(readFileSync("/proc/1/status", "utf8"))[1],
        refused: ["/app/x", "/etc/pressmark/x", "/srv/x", "/x", "/state/x", "/cache/x", "/tmp/x"].map(refused),
      }));`;
    expect(JSON.parse(inside(script))).toEqual({
      uid: 1000,
      capabilities: "0000000000000000",
      refused: ["EROFS", "EROFS", "EROFS", "EROFS", false, false, false],
    });
  });

  it("ends with 0 when it is told to stop, as the first process", () => {
    podman("stop", "--time", "30", container);
    expect(podman("inspect", container, "--format", "{{.State.ExitCode}}")).toBe("0");
  });
});

/** What the Containerfile uses of the official image: node, npm, a shell, and a user 1000. */
function makeBase(base: string): void {
  for (const path of ["bin", "usr/bin", "usr/local/bin", "etc", "tmp", "var/tmp", "root", "run", "proc", "sys", "dev"])
    mkdirSync(join(base, path), { recursive: true });
  chmodSync(join(base, "tmp"), 0o1777);
  const programs = ["sh", "mkdir", "chown", "env"].map((name) => realpathSync(which(name)));
  copyFileSync(process.execPath, join(base, "usr/local/bin/node"));
  for (const [index, name] of ["sh", "mkdir", "chown"].entries())
    copyFileSync(programs[index]!, join(base, "bin", name));
  copyFileSync(programs[3]!, join(base, "usr/bin/env"));
  for (const library of new Set([process.execPath, ...programs].flatMap(librariesOf))) {
    mkdirSync(join(base, dirname(library)), { recursive: true });
    copyFileSync(library, join(base, library));
  }
  const npm = join(dirname(realpathSync(which("npm"))), "..");
  cpSync(npm, join(base, "usr/local/lib/node_modules/npm"), { recursive: true });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(base, "usr/local/bin/npm"));
  writeFileSync(join(base, "etc/passwd"), "root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/tmp:/bin/sh\n");
  writeFileSync(join(base, "etc/group"), "root:x:0:\nnode:x:1000:\n");
}

function which(name: string): string {
  return execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
}

/** As their paths are written in the program. */
function librariesOf(program: string): string[] {
  return execFileSync("ldd", [program], { encoding: "utf8" }).match(/\/\S+\.so\S*/g) ?? [];
}

/** The registry and its certificates, as npm on this machine knows them. */
function npmSettings(folder: string): string[] {
  const settings = JSON.parse(execFileSync("npm", ["config", "ls", "--json"], { encoding: "utf8" })) as {
    registry: string;
    cafile: string | null;
  };
  const file = join(folder, "npmrc");
  const ca = settings.cafile ?? process.env["NODE_EXTRA_CA_CERTS"];
  writeFileSync(file, `registry=${settings.registry}\nfetch-retries=1\n${ca ? "cafile=/etc/registry-ca.crt\n" : ""}`);
  return [`${file}:/root/.npmrc:ro`, ...(ca ? [`${realpathSync(ca)}:/etc/registry-ca.crt:ro`] : [])].flatMap((each) => [
    "--volume",
    each,
  ]);
}
