/** The server's own certificate, as `pressmark serve` uses it: HTTPS, renewals, and what doctor says. */
import { once } from "node:events";
import { copyFileSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request as plainRequest } from "node:http";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect, type TLSSocket } from "node:tls";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { loadCertificate } from "./certificate.ts";
import { examineCertificate } from "./examine-certificate.ts";
import { examineAddress } from "./examine.ts";
import { findInstalledHosts } from "./installed-hosts.ts";
import { serverUrl } from "./server-url.ts";
import { type HttpServer, startHttp } from "./start-http.ts";
import { makeCertificate } from "./test-certificate.ts";

const token = "0123456789abcdef0123456789abcdef";
let root: string;
let env: Record<string, string>;
let server: HttpServer | undefined;
const logged: string[] = [];

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-https-")));
  env = {
    HOME: root,
    XDG_STATE_HOME: join(root, ".state"),
    XDG_CACHE_HOME: join(root, ".cache"),
    PRESSMARK_LOG: "info",
  };
  writeFileSync(join(root, "a.md"), "# A\n");
  logged.length = 0;
});

afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(root, { recursive: true, force: true });
});

async function serve(more = ""): Promise<HttpServer> {
  writeFileSync(
    join(root, "team.yaml"),
    `mounts: { files: { source: file, root: . } }\nserver: { tls: { cert: own.pem, key: own.key }${more} }\n`,
  );
  const err = { write: (line: string) => Boolean(logged.push(line)) };
  const options = { folders: [], config: join(root, "team.yaml"), from: root, env, err };
  return (server = await startHttp({ ...options, allowedHosts: [], version: "1", port: 0 }));
}

interface Sent {
  readonly ca: string;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function send({ ca, path = "/", method = "GET", headers, body }: Sent): Promise<IncomingMessage> {
  const { port } = new URL(server!.url);
  const agent = new Agent({ keepAlive: false });
  const asked = request({ host: "127.0.0.1", servername: "localhost", port, path, method, headers, ca, agent });
  asked.end(body);
  return ((await once(asked, "response")) as [IncomingMessage])[0];
}

/** Serial number of the certificate that a new connection gets. */
async function serialNow(): Promise<string> {
  const socket: TLSSocket = connect({ port: Number(new URL(server!.url).port), rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const { serialNumber } = socket.getPeerX509Certificate()!;
  socket.destroy();
  return serialNumber;
}

const modern = (method: string, params: object = {}) => ({
  method: "POST",
  path: "/mcp",
  headers: {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": method,
  },
  body: JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method,
    params: {
      ...params,
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    },
  }),
});

describe("a server with its own certificate", () => {
  it("serves HTTPS under the names of the certificate, and sets a cookie for HTTPS alone", async () => {
    const { ca } = makeCertificate(root, "own", "DNS:localhost,DNS:docs.example,IP:127.0.0.1");
    const { url, invite } = await serve(`, token: ${token}`);
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/mcp$/);
    const listed = await send({
      ca,
      ...modern("resources/list"),
      headers: { ...modern("resources/list").headers, Authorization: `Bearer ${token}` },
    });
    expect([listed.statusCode, await text(listed)]).toEqual([200, expect.stringContaining("a.md")]);
    expect(listed.headers["strict-transport-security"]).toBeUndefined();
    const visit = await send({ ca, path: `/${new URL(invite()).search}`, headers: { Host: "docs.example" } });
    visit.resume();
    expect(visit.headers["strict-transport-security"]).toBe("max-age=31536000");
    const [cookie = ""] = visit.headers["set-cookie"] ?? [];
    expect(cookie).toMatch(/^__Host-pressmark-\d+=[\w-]+; HttpOnly; SameSite=Strict; Path=\/; Secure$/);
    const withCookie = { Cookie: cookie.split(";")[0]!, Host: "docs.example" };
    const statusFrom = async (headers: Readonly<Record<string, string>>) => {
      const answer = await send({ ca, path: "/metrics", headers: { ...withCookie, ...headers } });
      answer.resume();
      return answer.statusCode;
    };
    expect(await statusFrom({ Origin: "https://docs.example" })).toBe(200);
    expect(await statusFrom({ Origin: "http://docs.example" })).toBe(403);
    expect(await statusFrom({ Host: "evil.example" })).toBe(403);
  });

  it("does not answer without encryption", async () => {
    makeCertificate(root, "own");
    const { url } = await serve();
    const asked = plainRequest(url.replace("https:", "http:"));
    asked.end();
    await expect(once(asked, "response")).rejects.toThrow();
  });

  it("uses a renewed certificate for new connections, and keeps those that are open", async () => {
    const { ca, cert, key } = makeCertificate(root, "own");
    await serve();
    const before = await serialNow();
    const params = { notifications: { resourceSubscriptions: [`file://${root}/a.md`] } };
    const stream = await send({ ca, ...modern("subscriptions/listen", params) });
    let heard = "";
    stream.on("data", (piece: Buffer) => (heard += String(piece)));
    await vi.waitFor(() => expect(heard).toContain("acknowledged"), { timeout: 10_000 });
    const renewed = makeCertificate(root, "next");
    copyFileSync(renewed.cert, cert);
    copyFileSync(renewed.key, key);
    await vi.waitFor(async () => expect(await serialNow()).not.toBe(before), { timeout: 15_000 });
    expect(logged.join("")).toContain("the renewed certificate is in use");
    writeFileSync(join(root, "a.md"), "# B\n");
    await vi.waitFor(() => expect(heard).toContain("notifications/resources/updated"), { timeout: 10_000 });
    expect(logged.join("")).not.toContain("cannot be used");
  });

  it("keeps the earlier certificate when a new one cannot be used, and says why", async () => {
    const { cert, key } = makeCertificate(root, "own");
    await serve();
    const before = await serialNow();
    const renewed = makeCertificate(root, "next");
    copyFileSync(renewed.cert, cert);
    await vi.waitFor(() => expect(logged.join("")).toContain("does not belong to the certificate"), {
      timeout: 15_000,
    });
    expect(await serialNow()).toBe(before);
    writeFileSync(cert, renewed.ca.slice(0, 200));
    await vi.waitFor(() => expect(logged.join("")).toContain("is not a certificate in PEM format"), {
      timeout: 15_000,
    });
    expect(await serialNow()).toBe(before);
    // The renewal is completed after all.
    copyFileSync(renewed.key, key);
    copyFileSync(renewed.cert, cert);
    await vi.waitFor(async () => expect(await serialNow()).not.toBe(before), { timeout: 15_000 });
  });

  it("does not start with a certificate that it cannot use, and shows nothing of the key", async () => {
    await expect(serve()).rejects.toThrow("own.pem");
    makeCertificate(root, "own");
    writeFileSync(join(root, "own.key"), "not a key: hunter2\n");
    await expect(serve()).rejects.toThrow(/own\.key" is not an unencrypted private key in PEM format$/);
    const other = makeCertificate(root, "other");
    copyFileSync(other.key, join(root, "own.key"));
    await expect(serve()).rejects.toThrow("does not belong to the certificate");
  });

  it("does not start without the encryption that an untrusted config asks for", async () => {
    makeCertificate(root, "own");
    writeFileSync(join(root, "pressmark.config.yaml"), "server: { tls: { cert: own.pem, key: own.key } }\n");
    const options = {
      folders: [],
      from: root,
      env,
      err: { write: () => true },
      allowedHosts: [],
      version: "1",
      port: 0,
    };
    await expect(startHttp(options)).rejects.toThrow("requires HTTPS but is not trusted");
  });

  it("closes while a client is connected, after the running request", async () => {
    const { ca } = makeCertificate(root, "own");
    await serve();
    const stream = await send({ ca, method: "GET", path: "/sse" });
    const ended = once(stream.resume(), "close");
    await server!.close();
    server = undefined;
    await ended;
  });

  it("is recognized by doctor, which needs no authority for that", async () => {
    makeCertificate(root, "own", "DNS:docs.example");
    const { url } = await serve();
    expect(url).toMatch(/^https:\/\/docs\.example:\d+\/mcp$/);
    const { signal } = new AbortController();
    const found = await examineAddress("127.0.0.1", Number(new URL(url).port), url, signal);
    expect(found.says).toBe(`Pressmark answers at ${url}`);
    const { here } = await findInstalledHosts(root, env, {
      tls: { cert: join(root, "own.pem"), key: join(root, "own.key") },
    });
    expect(here.url).toBe("https://docs.example:7357/mcp");
  });
});

describe("a certificate", () => {
  it("names its hosts, without wildcards", () => {
    const made = makeCertificate(
      root,
      "own",
      "DNS:A.example,DNS:*.b.example,IP:192.0.2.7,IP:2001:db8::1,email:x@y.example",
    );
    const certificate = loadCertificate(made);
    expect(certificate.hosts).toEqual(["a.example", "192.0.2.7", "[2001:db8::1]"]);
    const urlFor = (host: string) => serverUrl({ host, port: 1, certificate });
    expect(urlFor("192.0.2.7")).toBe("https://192.0.2.7:1/mcp");
    expect(urlFor("2001:db8::1")).toBe("https://[2001:db8::1]:1/mcp");
    expect(urlFor("0.0.0.0")).toBe("https://a.example:1/mcp");
  });

  it("is reported before it expires, when it has expired, and when it cannot be used", () => {
    const made = makeCertificate(root, "own");
    const day = 24 * 3600 * 1000;
    const stateIn = (days: number) => examineCertificate(made, Date.now() + days * day).state;
    expect([-1, 1, 45, 47, 59, 61].map(stateIn)).toEqual(["broken", "ok", "ok", "hint", "hint", "broken"]);
    expect(examineCertificate({ ...made, key: join(root, "none") }, 0)).toMatchObject({ state: "broken" });
  });
});
