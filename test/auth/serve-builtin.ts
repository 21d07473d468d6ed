/** `pressmark serve` with `server.auth: builtin` as a process, a browser, and what a client needs to be called back. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const program = join(import.meta.dirname, "../../bin/pressmark.js");

export interface Served extends AsyncDisposable {
  readonly url: string;
  readonly endpoint: URL;
  readonly folder: string;
  uriOf(path: string): string;
  writeConfig(text: string): void;
  /** Runs another command of the program on the same config, and returns what it printed. */
  run(words: readonly string[], input?: string): Promise<string>;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Everything that it printed, for the search for secrets. */
  readonly printed: string;
}

/** The config may contain URL for the public URL. */
export async function createServed(config: string, files: Readonly<Record<string, string>>): Promise<Served> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-builtin-")));
  const folder = join(root, "team");
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const configFile = join(folder, "pressmark.yaml");
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: root,
    XDG_STATE_HOME: join(root, "state"),
    XDG_CACHE_HOME: root,
  };
  let printed = "";
  let child: ChildProcess | undefined;
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const writeConfig = (text: string): void => writeFileSync(configFile, text.replaceAll("URL", url));
  writeConfig(config);

  const begin = (words: readonly string[]): ChildProcess =>
    spawn(process.execPath, [program, ...words, "--config", configFile], { cwd: folder, env });

  async function stop(): Promise<void> {
    if (!child || child.exitCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGINT");
    await exited;
  }

  return {
    url,
    endpoint: new URL("/mcp", url),
    folder,
    uriOf: (path) => pathToFileURL(join(folder, path)).href,
    writeConfig,
    async run(words, input = "") {
      const running = begin(words);
      running.stdin?.end(input);
      let out = "";
      running.stdout?.setEncoding("utf8").on("data", (text: string) => (out += text));
      running.stderr?.setEncoding("utf8").on("data", (text: string) => (printed += text));
      const [code] = (await once(running, "close")) as [number];
      if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}: ${printed}`);
      return out.trim();
    },
    async start() {
      const serving = begin(["serve", "--port", String(port)]);
      child = serving;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const heard = (text: string): void => {
        printed += text;
        if (/serves at \S+/.test(printed)) resolve();
      };
      serving.stdout?.setEncoding("utf8").on("data", heard);
      serving.stderr?.setEncoding("utf8").on("data", heard);
      serving.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${printed}`)));
      await promise;
    },
    stop,
    get printed() {
      return printed;
    },
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((listening) => probe.listen(0, "127.0.0.1", listening));
  const { port } = probe.address() as AddressInfo;
  await new Promise((closed) => probe.close(closed));
  return port;
}

export interface Callback extends AsyncDisposable {
  readonly url: string;
  /** The parameters of the next call. */
  next(): Promise<URLSearchParams>;
}

/** The page of a client to which a browser returns. */
export async function createCallback(): Promise<Callback> {
  const calls: URLSearchParams[] = [];
  let heard: (() => void) | undefined;
  const server: Server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://x");
    if (pathname === "/callback") {
      calls.push(searchParams);
      heard?.();
    }
    response.setHeader("Content-Type", "text/html").end("<p>connected</p>");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    async next() {
      while (calls.length === 0) await new Promise<void>((resolve) => (heard = resolve));
      return calls.shift()!;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Remembers what an official client stores about its sign-in, in memory. */
export function createClientState(redirectUrl: string, redirected: (url: URL) => Promise<void>) {
  const stored: {
    client?: object;
    tokens?: { access_token: string; refresh_token?: string };
    verifier?: string;
    discovery?: object;
  } = {};
  return {
    stored,
    provider: {
      redirectUrl,
      clientMetadata: {
        client_name: "Test client",
        redirect_uris: [redirectUrl],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
      },
      state: () => "state-of-the-client",
      clientInformation: () => stored.client as never,
      saveClientInformation: (client: object) => void (stored.client = client),
      tokens: () => stored.tokens as never,
      saveTokens: (tokens: { access_token: string; refresh_token?: string }) => void (stored.tokens = tokens),
      redirectToAuthorization: redirected,
      saveCodeVerifier: (verifier: string) => void (stored.verifier = verifier),
      codeVerifier: () => stored.verifier ?? "",
      saveDiscoveryState: (discovery: object) => void (stored.discovery = discovery),
      discoveryState: () => stored.discovery as never,
    },
  };
}
