/** Clients that are identified by the URL of their metadata (Client ID Metadata Documents). */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createRequest,
  exchange,
  redirectUri,
  signInAndAllow,
  startBuiltin,
  type TestBuiltin,
} from "./test-builtin.ts";

const never = new AbortController().signal;
const initial = getCACertificates("default");
let folder: string;
let site: Server;
let id: string;
/** The response of the site to a path. */
const answers = new Map<string, (response: ServerResponse) => void>();
const requested: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-client-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=client.example", "-addext", "subjectAltName=DNS:client.example"];
  const made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  execFileSync("openssl", [...made, "-keyout", key, "-out", cert, ...subject], { stdio: "ignore" });
  setDefaultCACertificates([...initial, readFileSync(cert, "utf8")]);
  site = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    requested.push(request.url ?? "");
    const answer = answers.get(request.url ?? "");
    if (answer) answer(response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((listening) => site.listen(0, "127.0.0.1", listening));
  id = `https://client.example:${(site.address() as AddressInfo).port}/client.json`;
});

afterAll(() => {
  setDefaultCACertificates(initial);
  site.close();
  site.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

/** As if the site had a public address. */
const reachable = {
  permit: (address: string) => address === "127.0.0.1",
  resolve: async () => [{ address: "127.0.0.1", family: 4 }],
};

function publish(path: string, changes: Record<string, unknown> = {}): string {
  const client = id.replace("/client.json", path);
  const document = { client_id: client, client_name: "Hosted", redirect_uris: [redirectUri], ...changes };
  answers.set(path, (response) => response.end(JSON.stringify(document)));
  return client;
}

async function refusal(builtin: TestBuiltin, client: string): Promise<number> {
  const response = await builtin.browse(createRequest(builtin, client).address);
  expect(response.headers.get("location")).toBeNull();
  const page = await response.text();
  expect(page).not.toMatch(/ECONN|private/);
  return response.status;
}

describe("a client with a metadata document", () => {
  it("connects without registration, and the page says where it comes from", async () => {
    await using builtin = await startBuiltin(reachable);
    const client = publish("/client.json", { scope: "unknown", token_endpoint_auth_method: "none" });
    const { verifier, address } = createRequest(builtin, client, { scope: "offline_access" });
    const pages: string[] = [];
    const called = await signInAndAllow(builtin, address, { seen: (page) => pages.push(page) });
    expect(pages.at(-1)).toContain(client.replaceAll("&", "&#38;"));
    expect(pages.at(-1)).not.toContain("anybody can use this name");
    const { status, body } = await exchange(builtin, {
      grant_type: "authorization_code",
      client_id: client,
      code: called.searchParams.get("code") ?? "",
      code_verifier: verifier,
      redirect_uri: redirectUri,
    });
    expect([status, typeof body["refresh_token"]]).toEqual([200, "string"]);
    expect(await builtin.verifier.verify(String(body["access_token"]), never)).toMatchObject({
      caller: "aki",
      claims: { client_id: client },
    });
    expect(builtin.store.read().clients).toEqual({});
    expect(requested.filter((path) => path === "/client.json")).toHaveLength(1);
  });

  it("is refused if the document is not one for it", async () => {
    await using builtin = await startBuiltin(reachable);
    for (const changes of [
      { client_id: "https://other.example/client.json" },
      { redirect_uris: ["http://client.example/callback"] },
      { redirect_uris: ["https://other.example/callback"] },
      { client_secret: "x" },
      { token_endpoint_auth_method: "client_secret_post" },
    ])
      expect(await refusal(builtin, publish(`/${JSON.stringify(changes).length}.json`, changes))).toBe(400);
  });

  it("is refused if the document is huge, slow, missing, no JSON, or elsewhere", async () => {
    await using builtin = await startBuiltin(reachable);
    const target = publish("/target.json");
    answers.set("/huge", (response) => {
      // Ends only when the reader closes the connection.
      const more = (): void =>
        void (response.write("x".repeat(65_536)) ? setImmediate(more) : response.once("drain", more));
      more();
    });
    answers.set("/slow", (response) => void response.write("{"));
    answers.set("/elsewhere", (response) => response.writeHead(302, { location: target }).end());
    answers.set("/text", (response) => response.end("hello"));
    for (const path of ["/huge", "/slow", "/elsewhere", "/text", "/missing"])
      expect(await refusal(builtin, id.replace("/client.json", path))).toBe(400);
    expect(requested).not.toContain("/target.json");
  });

  it("is not requested from a private address, however it is written", async () => {
    await using builtin = await startBuiltin({ resolve: reachable.resolve });
    const before = requested.length;
    const { port } = new URL(id);
    for (const client of [
      publish("/client.json"),
      ...["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "localhost", "169.254.169.254"].map(
        (host) => `https://${host}:${port}/client.json`,
      ),
      `http://client.example:${port}/client.json`,
    ])
      expect(await refusal(builtin, client)).toBe(400);
    expect(requested).toHaveLength(before);
  });

  it("cannot make this server request without end", async () => {
    await using builtin = await startBuiltin(reachable);
    const before = requested.length;
    for (let count = 0; count < 65; count += 1)
      expect(await refusal(builtin, id.replace("/client.json", `/missing-${count}`))).toBe(400);
    expect(requested).toHaveLength(before + 60);
  });
});
