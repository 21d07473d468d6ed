/** An MCP server that requires a token of an authorization server, both real, and a browser for its pages. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { openScripted } from "./scripted-server.ts";

export interface Authority extends AsyncDisposable {
  readonly issuer: string;
  /** A token of a user, for a resource. */
  tokenOf(user: string, resource: string): Promise<string>;
  introspect(token: string): Promise<Introspected>;
}

interface Introspected {
  readonly active: boolean;
  readonly aud?: string;
  readonly scope?: string;
  readonly sub?: string;
}

/** Introspects tokens. */
export const resourceServer = {
  client_id: "upstream",
  client_secret: "upstream-secret",
  grant_types: [],
  redirect_uris: [],
  response_types: [],
};

export async function startAuthority(
  clients: readonly object[] = [],
  more: { readonly scopes?: readonly string[]; readonly format?: "jwt" | "opaque" } = {},
): Promise<Authority> {
  const options = JSON.stringify({ ...more, clients: [resourceServer, ...clients] });
  const child = spawn(process.execPath, [join(import.meta.dirname, "authority.mjs"), options], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
  const issuer = line.trim();
  return {
    issuer,
    introspect: (token) => introspect(issuer, token),
    async tokenOf(sub, resource) {
      return (await fetch(`${issuer}/issue?${new URLSearchParams({ sub, resource }).toString()}`)).text();
    },
    async [Symbol.asyncDispose]() {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}

async function introspect(issuer: string, token: string): Promise<Introspected> {
  const { client_id: id, client_secret: secret } = resourceServer;
  const response = await fetch(`${issuer}/token/introspection`, {
    method: "POST",
    body: new URLSearchParams({ token }),
    headers: { Authorization: `Basic ${btoa(`${id}:${secret}`)}` },
  });
  return (await response.json()) as Introspected;
}

export interface OAuthUpstream extends AsyncDisposable {
  readonly url: string;
  /** Of every request, in order. */
  readonly received: readonly { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }[];
  /** Protected resource metadata; a hostile server changes it. */
  metadata: Readonly<Record<string, unknown>>;
  /** Metadata of an authorization server; a hostile server has one of its own. */
  authorizationMetadata: object | undefined;
  /** Parameters of the challenge. */
  challenge: string;
  /** Users whose tokens it has accepted. */
  readonly users: ReadonlySet<string>;
  /** Refuses all tokens that it has seen so far. */
  refuseTokens(): void;
  /** Refuses every token from now on. */
  refuseAll: boolean;
  /** Scope without which requests get 403. */
  requiredScope: string | undefined;
}

export async function startOAuthUpstream(issuer: string): Promise<OAuthUpstream> {
  const inner = await openScripted(
    {
      "resources/list": () => ({ result: { resources: [{ uri: "notes://all/a", name: "a" }] } }),
      "resources/read": () => ({ result: { contents: [{ uri: "notes://all/a", text: "alpha" }] } }),
      "tools/list": () => ({ result: { tools: [{ name: "greet", inputSchema: { type: "object" } }] } }),
      "tools/call": () => ({ result: { content: [{ type: "text", text: "hello" }] } }),
    },
    { resources: {}, tools: {} },
  );
  const received: { path: string; headers: IncomingHttpHeaders; body: string }[] = [];
  const [seen, refused, users] = [new Set<string>(), new Set<string>(), new Set<string>()];

  async function scopesOf(request: IncomingMessage): Promise<readonly string[] | undefined> {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    if (token === undefined) return undefined;
    seen.add(token);
    if (refused.has(token) || upstream.refuseAll) return undefined;
    const said = await introspect(issuer, token);
    if (said.active && said.sub !== undefined) users.add(said.sub);
    return said.active && said.aud === upstream.url ? (said.scope ?? "").split(" ") : undefined;
  }

  const server = createServer(async (request, response) => {
    const { url: path = "", method = "GET", headers } = request;
    const body = await text(request);
    received.push({ path, headers, body });
    const json = (status: number, value: object, more = {}) =>
      response.writeHead(status, { "Content-Type": "application/json", ...more }).end(JSON.stringify(value));
    if (path === "/.well-known/oauth-protected-resource/mcp") return json(200, upstream.metadata);
    if (path === "/.well-known/oauth-authorization-server" && upstream.authorizationMetadata)
      return json(200, upstream.authorizationMetadata);
    if (path !== "/mcp") return json(404, {});
    const scopes = await scopesOf(request);
    if (!scopes) return json(401, {}, { "WWW-Authenticate": `Bearer ${upstream.challenge}` });
    const { requiredScope } = upstream;
    if (requiredScope !== undefined && !scopes.includes(requiredScope))
      return json(403, {}, { "WWW-Authenticate": `Bearer error="insufficient_scope", scope="${requiredScope}"` });
    const type = { "Content-Type": "application/json" };
    const answer = await fetch(inner.url, { method, headers: type, ...(method === "POST" && { body }) });
    response.writeHead(answer.status, { "Content-Type": answer.headers.get("content-type") ?? "text/plain" });
    return response.end(await answer.text());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const upstream: OAuthUpstream = {
    url: `${origin}/mcp`,
    received,
    users,
    metadata: { resource: `${origin}/mcp`, authorization_servers: [issuer] },
    authorizationMetadata: undefined,
    challenge: `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", scope="notes"`,
    refuseTokens() {
      for (const token of seen) refused.add(token);
    },
    refuseAll: false,
    requiredScope: undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await inner[Symbol.asyncDispose]();
    },
  };
  return upstream;
}

/** Follows redirects as a browser does, with cookies, from a page of the authorization server to its end. */
export async function browse(start: string): Promise<Response> {
  const cookies = new Map<string, string>();
  let url = start;
  for (let steps = 0; steps < 20; steps += 1) {
    const Cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { redirect: "manual", headers: { Cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const to = response.headers.get("location");
    if (to === null) return response;
    url = new URL(to, url).href;
  }
  throw new Error(`too many redirects from ${start}`);
}
