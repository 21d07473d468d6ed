/** docs/team.md, as it is written: its nginx site in front of `pressmark serve` with its config, and its own certificate. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { connect } from "node:tls";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { AuditEntry } from "../../src/server/audit-log.ts";
import { makeCertificate } from "../../src/server/test-certificate.ts";
import { hasNginx, type Nginx, nginxPackage, startNginx } from "./nginx.ts";
import { end, freePort } from "./processes.ts";

const isThere = "CI" in process.env || hasNginx();
const program = join(import.meta.dirname, "../../bin/pressmark.js");
const page = readFileSync(join(import.meta.dirname, "../../docs/team.md"), "utf8");
const name = "pressmark.example";

/** The block of the page that begins with this comment. */
function blockOf(comment: string): string {
  const found = [...page.matchAll(/^```\w+\n(#[^]*?)^```$/gm)].find(([, block]) => block!.startsWith(`# ${comment}\n`));
  if (!found) throw new Error(`docs/team.md has no block "# ${comment}"`);
  return found[1]!;
}

let root: string;
let team: string;
let env: NodeJS.ProcessEnv;
const running: ChildProcess[] = [];

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-team-")));
  team = join(root, "team");
  env = { ...process.env, HOME: root, XDG_STATE_HOME: "", XDG_CACHE_HOME: "", PRESSMARK_TOKEN: "" };
  write("handbook/public/index.md", "# Public\n");
  write("handbook/salaries/2026.md", "# Salaries\n");
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.org", ...words], {
      cwd: join(team, "handbook"),
    });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "one");
});

afterAll(async () => {
  for (const child of running) await end(child);
  rmSync(root, { recursive: true, force: true });
});

function write(path: string, content: string): void {
  mkdirSync(dirname(join(team, path)), { recursive: true });
  writeFileSync(join(team, path), content);
}

const uriOf = (path: string) => pathToFileURL(join(team, path)).href;

function run(...words: readonly string[]) {
  return spawnSync(process.execPath, [program, ...words], { env, cwd: root, encoding: "utf8" });
}

function pressmark(...words: readonly string[]): string {
  const { stdout, stderr, status } = run(...words);
  expect([words, status, status === 0 ? "" : stderr]).toEqual([words, 0, ""]);
  return stdout;
}

const config = () => join(team, "pressmark.config.yaml");
const createToken = (caller: string) => pressmark("token", "create", caller, "--config", config()).trim();

/** The address that it prints. */
async function serve(file = config()): Promise<string> {
  const child = spawn(process.execPath, [program, "serve", "--config", file], { env, cwd: root });
  running.push(child);
  let printed = "";
  const started = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (piece: string) => {
      printed += piece;
      const url = /serves at (\S+)/.exec(printed)?.[1];
      if (url !== undefined) started.resolve(url);
    });
  child.once("exit", (code) => started.reject(new Error(`pressmark serve ended with ${code}: ${printed}`)));
  return started.promise;
}

interface Sent {
  readonly port: number;
  readonly ca: string;
  /** The address that the client connects from. */
  readonly from?: string;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const agent = new Agent({ keepAlive: false });

async function send({
  from = "127.0.0.2",
  path = "/",
  method = "GET",
  headers,
  ...sent
}: Sent): Promise<IncomingMessage> {
  const host = { Host: `${name}:${sent.port}`, ...headers };
  const options = {
    ...sent,
    host: "127.0.0.1",
    localAddress: from,
    servername: name,
    path,
    method,
    headers: host,
    agent,
  };
  const asked = request(options);
  asked.end(sent.body);
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  return response;
}

function message(token: string, method: string, params: object) {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const { uri } = params as { readonly uri?: string };
  return {
    path: "/mcp",
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": method,
      ...(uri !== undefined && { "Mcp-Name": uri }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
  };
}

/** A `tar` of the page, in the folder of this test. */
function tar(command: string): void {
  execFileSync("sh", ["-c", command.replace("sudo ", "").replace("/var/lib/pressmark", root)], { cwd: root });
}

const stored = () => pressmark("token", "list", "--config", config());

/** A script in which `pressmark` is this program. */
const script = (command: string) => `pressmark() { "${process.execPath}" "${program}" "$@"; }\n${command}`;

/** Where a caller read from, by the audit log. */
const addresses = (caller: string) =>
  pressmark("audit", "--json", "--caller", caller, "--config", config())
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as AuditEntry)
    .flatMap(({ what, address }) => (what === "read" ? [address] : []));

async function first(answer: IncomingMessage): Promise<string> {
  const [piece] = (await once(answer, "data")) as [Buffer];
  return String(piece);
}

/** As many as one listen may have. */
const many = (mark: string) => Array.from({ length: 10_000 }, (_, at) => `file:///none/${mark}/${at}`);

describe.skipIf(!isThere)(`a team behind nginx (skipped where there is none; Debian has it: ${nginxPackage})`, () => {
  let nginx: Nginx;
  let port: number;
  let plainPort: number;
  let backend: number;
  let ca: string;
  let aki: string;
  let bo: string;

  beforeAll(async () => {
    [port, plainPort, backend] = await Promise.all([freePort(), freePort(), freePort()]);
    write("pressmark.config.yaml", blockOf("/srv/team/pressmark.config.yaml").replace("7357", String(backend)));
    [aki, bo] = ["aki", "bo"].map(createToken) as [string, string];
    await serve();
    const made = makeCertificate(root, "site", `DNS:${name},DNS:localhost`);
    ca = made.ca;
    const site = blockOf("/etc/nginx/sites-available/pressmark")
      .replaceAll("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
      .replace("listen 80", `listen 127.0.0.1:${plainPort}`)
      .replace("127.0.0.1:7357", `127.0.0.1:${backend}`)
      .replace(`/etc/letsencrypt/live/${name}/fullchain.pem`, made.cert)
      .replace(`/etc/letsencrypt/live/${name}/privkey.pem`, made.key)
      // A name that this machine can resolve, for the command line.
      .replace(`server_name ${name};`, `server_name ${name} localhost;`);
    nginx = await startNginx(join(root, "nginx"), site);
  });
  afterAll(async () => nginx?.close());

  const ask = (sent: Omit<Sent, "port" | "ca">) => send({ port, ca, ...sent });
  async function read(
    token: string,
    path: string,
    from?: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const asked = message(token, "resources/read", { uri: uriOf(path) });
    return text(await ask({ ...asked, from, headers: { ...asked.headers, ...headers } }));
  }

  const listen = (token: string, mark: string, from: string) =>
    ask({
      ...message(token, "subscriptions/listen", { notifications: { resourceSubscriptions: many(mark) } }),
      from,
    });
  /** Without nginx. */
  const directStatus = async (headers: Readonly<Record<string, string>>) =>
    (await fetch(`http://127.0.0.1:${backend}/`, { headers: { Authorization: `Bearer ${aki}`, ...headers } })).status;

  it("shows each caller what the rules allow, from the command line too", async () => {
    expect(await read(aki, "handbook/public/index.md")).toContain("# Public");
    expect(await read(aki, "handbook/salaries/2026.md")).not.toContain("# Salaries");
    expect(await read(bo, "handbook/salaries/2026.md")).toContain("# Salaries");
    const header = "Authorization: Bearer ${env:PRESSMARK_TOKEN}";
    env = { ...env, NODE_EXTRA_CA_CERTS: join(root, "site.pem"), PRESSMARK_TOKEN: aki };
    const server = ["--server", `https://localhost:${port}/mcp`, "--header", header];
    expect(pressmark("ls", ...server)).toContain("handbook");
    const listed = pressmark("tree", ...server);
    expect(listed).toContain("index.md");
    expect(listed).not.toContain("2026.md");
    const salaries = [join(team, "handbook/salaries/2026.md"), "--config", config()];
    expect(run("may", "aki", ...salaries)).toMatchObject({ status: 3, stderr: "pressmark: aki may not see it\n" });
    expect(pressmark("may", "bo", ...salaries)).toContain("rule 1");
  });

  it("has commands that work as they are written", () => {
    const lines = [...page.matchAll(/^```sh\n([^]*?)^```$/gm)].flatMap(([, block]) => block!.split("\n"));
    const commands = lines.flatMap((line) => /^(?:sudo -u pressmark -H )?(pressmark .*)$/.exec(line)?.[1] ?? []);
    const adapted = commands.map((command) =>
      command.replaceAll("/srv/team", team).replaceAll(`https://${name}/`, `https://localhost:${port}/`),
    );
    const withToken = { ...env, NODE_EXTRA_CA_CERTS: join(root, "site.pem"), PRESSMARK_TOKEN: bo };
    const codes = adapted
      .filter((command) => !command.includes("token revoke"))
      .map((command) => {
        const { status, stderr } = spawnSync("sh", ["-c", script(command)], {
          env: withToken,
          cwd: root,
          encoding: "utf8",
        });
        return [command.split(" ")[1], status, status === 0 ? "" : stderr];
      });
    expect(codes).toEqual([
      ["doctor", 0, ""],
      ["token", 0, ""],
      ["ls", 0, ""],
      ["may", 3, "pressmark: aki may not see it\n"],
      ["audit", 0, ""],
      ["doctor", 0, ""],
    ]);
  });

  it("gets its tokens back from a backup", () => {
    const [create = "", restore = ""] = page.match(/^sudo tar .*$/gm) ?? [];
    const before = stored();
    tar(create);
    rmSync(join(root, ".local/state/pressmark/tokens"), { recursive: true });
    expect(stored()).not.toBe(before);
    tar(restore);
    expect(stored()).toBe(before);
  });

  it("delivers notifications while the stream is open", async () => {
    const params = { notifications: { resourceSubscriptions: [uriOf("handbook/public/index.md")] } };
    const stream = await ask(message(bo, "subscriptions/listen", params));
    let heard = "";
    stream.on("data", (piece: Buffer) => (heard += String(piece)));
    await vi.waitFor(() => expect(heard).toContain("acknowledged"), { timeout: 20_000 });
    write("handbook/public/index.md", "# Public, changed\n");
    await vi.waitFor(() => expect(heard).toContain("notifications/resources/updated"), { timeout: 20_000 });
    const older = await ask({ path: "/sse", headers: { Authorization: `Bearer ${aki}` } });
    expect(await first(older)).toContain("event: endpoint");
    for (const each of [stream, older]) each.destroy();
  });

  it("records each client's address, whatever it claims", async () => {
    const claims = { "X-Forwarded-For": "203.0.113.9", Forwarded: "for=203.0.113.9" };
    await read(aki, "handbook/public/index.md", "127.0.0.2", claims);
    await read(bo, "handbook/public/index.md", "127.0.0.3", claims);
    await vi.waitFor(() => expect(addresses("bo")).toContain("127.0.0.3"), { timeout: 20_000, interval: 500 });
    expect(new Set(addresses("aki"))).toEqual(new Set(["127.0.0.1", "127.0.0.2"]));
  });

  it("counts the limits of one client apart from another's", async () => {
    const open: IncomingMessage[] = [];
    const said: string[] = [];
    for (const mark of ["a", "b", "c"]) {
      const stream = await listen(aki, mark, "127.0.0.2");
      open.push(stream);
      said.push(await first(stream));
    }
    const other = await listen(bo, "d", "127.0.0.3");
    open.push(other);
    expect(await first(other)).toContain("acknowledged");
    expect(said[0]).toContain("acknowledged");
    expect(said[2]).toMatch(/busy|too many/);
    for (const each of open) each.destroy();
  });

  it("sets a cookie for HTTPS alone, when a person signs in", async () => {
    const body = new URLSearchParams({ token: aki }).toString();
    const form = { "Content-Type": "application/x-www-form-urlencoded" };
    const signIn = (origin: string) =>
      ask({ path: "/sign-in", method: "POST", body, headers: { ...form, Origin: origin } });
    const { statusCode, headers } = await signIn(`https://${name}:${port}`);
    expect(statusCode).toBe(303);
    expect(headers["set-cookie"]?.[0]).toMatch(
      /^__Host-pressmark-\d+=[\w-]+; HttpOnly; SameSite=Strict; Path=\/; Secure$/,
    );
    expect(headers["strict-transport-security"]).toBe("max-age=31536000");
    expect((await signIn(`http://${name}:${port}`)).statusCode).toBe(403);
  });

  it("refuses other hosts, at nginx and behind it", async () => {
    const asked = { path: "/", headers: { Host: "evil.example", "X-Forwarded-Host": name } };
    await expect(ask(asked)).rejects.toThrow("socket hang up");
    const socket = connect({ port, host: "127.0.0.1", servername: "evil.example", rejectUnauthorized: false });
    await expect(once(socket, "secureConnect")).rejects.toThrow();
    // Clients cannot choose the host: nginx replaces the header.
    expect(await read(aki, "handbook/public/index.md", undefined, { "X-Forwarded-Host": "evil.example" })).toContain(
      "# Public",
    );
    expect(await directStatus({ "X-Forwarded-Host": "evil.example" })).toBe(403);
    expect(await directStatus({ "X-Forwarded-Host": name })).toBe(200);
    const redirected = await fetch(`http://127.0.0.1:${plainPort}/mcp`, {
      headers: { Host: name },
      redirect: "manual",
    });
    expect(redirected.status).toBe(301);
  });

  it("serves HTTPS itself, and uses a renewed certificate while connections stay open", async () => {
    const own = makeCertificate(root, "own", `DNS:${name}`);
    const section = blockOf("/srv/team/pressmark.config.yaml, instead of the section above")
      .replace("host: 0.0.0.0", "host: 127.0.0.1")
      .replace("port: 443", "port: 0")
      .replace(/cert: .*/, `cert: ${own.cert}`)
      .replace(/key: .*/, `key: ${own.key}`);
    const whole = blockOf("/srv/team/pressmark.config.yaml");
    write("https.yaml", whole.slice(0, whole.indexOf("server:")) + section);
    const url = new URL(await serve(join(team, "https.yaml")));
    expect(url.origin).toBe(`https://${name}:${url.port}`);
    const token = pressmark("token", "create", "bo", "--config", join(team, "https.yaml")).trim();
    const direct = { port: Number(url.port), ca: own.ca };
    const params = { notifications: { resourceSubscriptions: [uriOf("handbook/public/index.md")] } };
    const stream = await send({ ...direct, ...message(token, "subscriptions/listen", params) });
    let heard = "";
    stream.on("data", (piece: Buffer) => (heard += String(piece)));
    await vi.waitFor(() => expect(heard).toContain("acknowledged"), { timeout: 20_000 });
    const renewed = makeCertificate(root, "renewed", `DNS:${name}`);
    copyFileSync(renewed.cert, own.cert);
    copyFileSync(renewed.key, own.key);
    const asked = { ...direct, ca: renewed.ca, ...message(token, "resources/list", {}) };
    await vi.waitFor(async () => expect((await send(asked)).statusCode).toBe(200), { timeout: 20_000, interval: 200 });
    write("handbook/public/index.md", "# Public, once more\n");
    await vi.waitFor(() => expect(heard).toContain("notifications/resources/updated"), { timeout: 20_000 });
    stream.destroy();
    const found = JSON.parse(pressmark("doctor", "--json", "--config", join(team, "https.yaml"))) as {
      about: string;
      state: string;
    }[];
    expect(found.find(({ about }) => about === "certificate")?.state).toBe("ok");
  });

  const statusFor = async (token: string) => (await ask(message(token, "resources/list", {}))).statusCode;

  it("admits nobody who has left", async () => {
    const revoke = /^sudo -u pressmark -H pressmark (token revoke .*)$/m.exec(page)?.[1] ?? "";
    pressmark(...revoke.replaceAll("/srv/team", team).split(" "));
    await vi.waitFor(async () => expect(await statusFor(aki)).toBe(401), { timeout: 20_000 });
    expect(await statusFor(bo)).toBe(200);
  });
});
