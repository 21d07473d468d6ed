/** `pressmark serve` with `server.auth: builtin` as a process, and what a client needs to be called back. */
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { createScratch, type PressmarkProcess, startPressmark } from "../faults/pressmark-process.ts";
import { freePort } from "./provider.ts";

export interface BuiltinServer extends AsyncDisposable {
  readonly url: string;
  readonly endpoint: URL;
  uriOf(path: string): string;
  writeConfig(text: string): void;
  /** Runs another command of the program on the same config, and returns what it printed. */
  run(words: readonly string[], input?: string): Promise<string>;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** What `serve` printed. */
  readonly printed: string;
}

/** The config may contain URL for the public URL. */
export async function createBuiltinServer(
  config: string,
  files: Readonly<Record<string, string>>,
): Promise<BuiltinServer> {
  const scratch = createScratch();
  const folder = join(scratch.folder, "team");
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const configFile = join(folder, "pressmark.yaml");
  let printed = "";
  let serving: PressmarkProcess | undefined;
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const writeConfig = (text: string): void => writeFileSync(configFile, text.replaceAll("URL", url));
  writeConfig(config);

  const begin = (words: readonly string[]): PressmarkProcess =>
    startPressmark([...words, "--config", configFile], { cwd: folder, env: scratch.env });

  async function stop(): Promise<void> {
    serving?.child.kill("SIGINT");
    await serving?.exited;
    printed += serving?.errors ?? "";
    serving = undefined;
  }

  return {
    url,
    endpoint: new URL("/mcp", url),
    uriOf: (path) => pathToFileURL(join(folder, path)).href,
    writeConfig,
    async run(words, input = "") {
      const running = begin(words);
      running.child.stdin.end(input);
      const out = (await running.child.stdout.setEncoding("utf8").toArray()).join("");
      const code = await running.exited;
      if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}: ${running.errors}`);
      return out.trim();
    },
    async start() {
      const started = begin(["serve", "--port", String(port)]);
      serving = started;
      const ready = new Promise<void>((resolve) => {
        let said = "";
        started.child.stdout.setEncoding("utf8").on("data", (text: string) => {
          said += text;
          printed += text;
          if (/serves at \S+/.test(said)) resolve();
        });
      });
      const ended = started.exited.then((code) => {
        throw new Error(`serve ended with ${code}: ${printed}${started.errors}`);
      });
      await Promise.race([ready, ended]);
      ended.catch(() => undefined);
    },
    stop,
    get printed() {
      return printed + (serving?.errors ?? "");
    },
    async [Symbol.asyncDispose]() {
      await stop();
      scratch.remove();
    },
  };
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
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://x");
    if (pathname === "/callback") {
      calls.push(searchParams);
      heard?.();
    }
    response.setHeader("Content-Type", "text/html").end("<p>connected</p>");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
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
