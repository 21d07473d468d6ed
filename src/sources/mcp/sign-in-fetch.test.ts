import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, expect, it } from "vitest";
import { refusal } from "../../testing/refusal.ts";
import { createSignInFetch } from "./sign-in-fetch.ts";

const configured = ["http://127.0.0.1:1/mcp"];
const timeoutMs = 5000;
const log = () => undefined;
const folder = mkdtempSync(join(tmpdir(), "pressmark-sign-in-"));
const received: { method: string; host: string; type: string | undefined; body: string }[] = [];
let port = 0;
let close = (): void => undefined;

beforeAll(async () => {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const name = ["-subj", "/CN=issuer.example", "-addext", "subjectAltName=DNS:issuer.example"];
  const made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"];
  execFileSync("openssl", [...made, ...name, "-keyout", key, "-out", cert], { stdio: "ignore" });
  const before = getCACertificates();
  setDefaultCACertificates([...before, readFileSync(cert, "utf8")]);
  const options = { key: readFileSync(key), cert: readFileSync(cert) };
  const server = createServer(options, async (request: IncomingMessage, response) => {
    const { method = "", headers } = request;
    received.push({ method, host: headers.host ?? "", type: headers["content-type"], body: await text(request) });
    if (request.url === "/moved") return response.writeHead(302, { Location: "https://10.0.0.1/" }).end();
    if (request.url === "/endless") return response.end("x".repeat(2 * 1024 * 1024));
    return response.writeHead(201, { "Content-Type": "application/json" }).end('{"a":1}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
  close = () => {
    server.closeAllConnections();
    server.close();
    setDefaultCACertificates(before);
  };
});
afterAll(() => {
  close();
  rmSync(folder, { recursive: true, force: true });
});

/** A name that resolves to these addresses; 127.0.0.1 counts as public here. */
function guarded(...addresses: readonly string[]) {
  return createSignInFetch({
    configured,
    timeoutMs,
    log,
    permit: (address) => address === "127.0.0.1",
    resolve: async () => addresses.map((address) => ({ address, family: 4 })),
  });
}

it("sends a request to the address that was checked, and returns the response", async () => {
  const body = new URLSearchParams({ code: "x" });
  const headers = { "Content-Type": "application/x-www-form-urlencoded" };
  const response = await guarded("127.0.0.1")(`https://issuer.example:${port}/token`, {
    method: "POST",
    headers,
    body,
  });
  expect([response.status, await response.json()]).toEqual([201, { a: 1 }]);
  expect(received.at(-1)).toEqual({
    method: "POST",
    host: `issuer.example:${port}`,
    type: headers["Content-Type"],
    body: "code=x",
  });
});

it("does not follow a redirect, and reads no endless body", async () => {
  const moved = await guarded("127.0.0.1")(`https://issuer.example:${port}/moved`);
  expect([moved.status, moved.headers.get("location")]).toEqual([302, "https://10.0.0.1/"]);
  await refusal(guarded("127.0.0.1")(`https://issuer.example:${port}/endless`), ["too-large"], "too many bytes");
});

it("refuses a name if any of its addresses is private", async () => {
  const before = received.length;
  const request = guarded("127.0.0.1", "10.0.0.1")(`https://issuer.example:${port}/`);
  expect((await refusal(request, ["denied"], "a private address")).message).toContain("private address");
  expect(received).toHaveLength(before);
});

it.each(["http://issuer.example/", "https://user:password@issuer.example/", "file:///etc/passwd"])(
  "refuses %s",
  async (url) => void (await refusal(guarded("127.0.0.1")(url), ["denied"], url)),
);

it.each([
  "https://169.254.169.254/",
  "https://2852039166/",
  "https://[::1]/",
  "https://[::ffff:10.0.0.1]/",
  "https://localhost/",
])("requests nothing from %s by default", async (url) => {
  await refusal(createSignInFetch({ configured, timeoutMs, log })(url), ["denied"], url);
});
