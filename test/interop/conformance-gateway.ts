/**
 * The program that the conformance suite runs as a client: the built `pressmark` with a mount of the suite's server. Signs in with `pressmark
 * login` and a browser that agrees to everything, if the scenario is about a person, and reads from the mount.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/client";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const program = join(import.meta.dirname, "../../bin/pressmark.js");
const url = process.argv.at(-1) ?? "";
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Readonly<Record<string, string>>;
const { client_id: clientId, client_secret: clientSecret, private_key_pem: privateKey, issuer } = context;
const isMachine = scenario.startsWith("auth/client-credentials");

/** What the operator writes into the config. Client credentials need an issuer, which the suite's context does not name. */
async function authOf(): Promise<object> {
  if (scenario === "auth/basic-cimd")
    return { clientId: "https://conformance-test.local/client-metadata.json", issuer: await issuerOf() };
  if (isMachine) return { grant: "client_credentials", issuer: await issuerOf(), clientId, clientSecret, privateKey };
  return { issuer, clientId, clientSecret };
}

async function issuerOf(): Promise<string | undefined> {
  const response = await fetch(new URL("/.well-known/oauth-protected-resource/mcp", url));
  return ((await response.json()) as { authorization_servers: string[] }).authorization_servers[0];
}

const folder = mkdtempSync(join(tmpdir(), "pressmark-gateway-"));
const auth = await authOf();
const configure = (scope?: string): void => {
  const upstream = { source: "mcp", url, auth: { ...auth, scope }, tools: true };
  writeFileSync(join(folder, "pressmark.yaml"), JSON.stringify({ mounts: { upstream } }));
};
configure();

const env = { XDG_STATE_HOME: join(folder, "state"), XDG_CACHE_HOME: join(folder, "cache") };

/** Standard error is passed on; `heard` gets all of it so far. */
async function run(words: readonly string[], heard: (said: string) => void = () => undefined): Promise<number> {
  const child = spawn(process.execPath, [program, ...words, "--config", "pressmark.yaml"], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    process.stderr.write(chunk);
    heard((said += chunk));
  });
  const [[code], out] = await Promise.all([once(child, "exit") as Promise<[number]>, text(child.stdout)]);
  process.stdout.write(out);
  return code;
}

/** Requested at the last login. */
let requested: string | null = null;

async function login(): Promise<boolean> {
  let page: Promise<Response> | undefined;
  const code = await run(["login", "upstream", "--no-browser"], (said) => {
    const shown = /^http\S+$/m.exec(said)?.[0];
    if (shown === undefined) return;
    requested = new URL(shown).searchParams.get("scope");
    page ??= fetch(shown);
  });
  return code === 0;
}

/** Returns whether the log asks the operator to sign in again. The suite's server has no resources, so the read itself fails. */
async function read(): Promise<boolean> {
  let needsLogin = false;
  await run(["read", "mcp://upstream/note:%2F%2Fany"], (said) => {
    needsLogin = said.includes("run: pressmark login upstream");
  });
  return needsLogin;
}

/** Calls each tool of the mount. Returns the scope that the log says is missing. */
async function callTools(): Promise<string | undefined> {
  let said = "";
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, "stdio", "--config", "pressmark.yaml"],
    cwd: folder,
    env: { ...getDefaultEnvironment(), ...env },
    stderr: "pipe",
  });
  transport.stderr?.on("data", (chunk: Buffer) => {
    process.stderr.write(chunk);
    said += chunk.toString();
  });
  const client = new Client({ name: "conformance", version: "1" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  for (const { name } of tools) if (name.startsWith("upstream_")) await client.callTool({ name, arguments: {} });
  await client.close();
  return /requires the scope \\"([^"]*)\\"/.exec(said)?.[1];
}

let signedIn = isMachine || (await login());
if (signedIn && scenario === "auth/scope-step-up") {
  const scope = await callTools();
  // As the operator does who reads the log.
  configure(`${requested} ${scope}`);
  signedIn = scope !== undefined && (await login()) && (await callTools()) === undefined;
} else if (signedIn && (await read())) {
  signedIn = await login();
  if (signedIn) await read();
}
rmSync(folder, { recursive: true, force: true });
process.exitCode = signedIn ? 0 : 1;
