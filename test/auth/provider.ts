/** Starts an authorization server, gets tokens from it, and signs tokens that it would not. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import type { ProviderSettings } from "./provider-process.ts";

export const secret = "a-secret-of-the-tests-that-is-long-enough";

export interface TestProvider extends AsyncDisposable {
  readonly issuer: string;
  readonly publicKeyPem: string;
  /** A real token of the client `nightly`. */
  token(options?: { readonly resource?: string; readonly scope?: string }): Promise<string>;
  revoke(token: string): Promise<void>;
  /** A token signed with the key of the provider. */
  sign(claims?: JWTPayload, header?: Readonly<Record<string, unknown>>): Promise<string>;
  /** How often its keys were fetched. */
  keyFetches(): Promise<number>;
  stop(): Promise<void>;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

export async function startProvider(resource: string, opaqueResource = "urn:opaque"): Promise<TestProvider> {
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: "first", alg: "RS256", use: "sig" };
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const settings: ProviderSettings = { port, resource, opaqueResource, keys: [key] };
  const child = spawn(process.execPath, [join(import.meta.dirname, "provider-process.ts"), JSON.stringify(settings)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const exited = once(child, "exit");
  const ready = await Promise.race([once(child.stdout, "data"), exited]);
  if (child.exitCode !== null) throw new Error(`the provider did not start (${String(ready[0])}): ${errors}`);

  async function post(path: string, form: Readonly<Record<string, string>>): Promise<Response> {
    const Authorization = `Basic ${Buffer.from(`nightly:${secret}`).toString("base64")}`;
    const response = await fetch(`${issuer}${path}`, {
      method: "POST",
      headers: { Authorization },
      body: new URLSearchParams(form),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  }

  async function stop(): Promise<void> {
    if (child.exitCode === null) child.kill("SIGKILL");
    await exited;
  }

  return {
    issuer,
    publicKeyPem: await exportSPKI(publicKey),
    async token({ resource: asked = resource, scope = "mcp:read" } = {}) {
      const response = await post("/token", { grant_type: "client_credentials", resource: asked, scope });
      return ((await response.json()) as { access_token: string }).access_token;
    },
    async revoke(token) {
      await post("/token/revocation", { token });
    },
    async sign(claims = {}, header = {}) {
      const now = Math.floor(Date.now() / 1000);
      const usual = {
        iss: issuer,
        aud: resource,
        sub: "mallory",
        client_id: "c",
        jti: "1",
        iat: now,
        exp: now + 60,
        scope: "mcp:read",
      };
      const all = { ...usual, ...claims };
      return new SignJWT(Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)))
        .setProtectedHeader({ alg: "RS256", typ: "at+jwt", kid: "first", ...header })
        .sign(privateKey);
    },
    keyFetches: async () => Number(await (await fetch(`${issuer}/requests`)).text()),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
