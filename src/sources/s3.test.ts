/** Behaviour that a real store cannot show on demand; the rest is tested against a real one. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createRuntime } from "../server/runtime.ts";
import s3, { type S3SourceOptions } from "./s3.ts";
import { createCredentials } from "./s3/credentials.ts";
import { createS3Store } from "./s3/s3-store.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };
const quiet = createRuntime({ write: () => true });

let result: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
const server = createServer((request, response) => result(request, response));
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

const open = (options: Partial<S3SourceOptions> = {}) =>
  s3.open({ ...s3.options(z).parse({ buckets: ["b"], endpoint, anonymous: true }), ...options }, quiet);
const listOf = (inside: string) => `<ListBucketResult>${inside}</ListBucketResult>`;
const objectIn = (key: string) => `<Contents><Key>${key}</Key><Size>1</Size><ETag>"1"</ETag></Contents>`;

function servePacked(body: Buffer): void {
  result = ({ method }, response) => {
    response.writeHead(200, {
      "Content-Encoding": "gzip",
      "Content-Type": "text/css",
      "Content-Length": body.length,
      ETag: '"1"',
    });
    response.end(method === "HEAD" ? undefined : body);
  };
}

describe("a gzip object", () => {
  it("is read unpacked, within the size limit", async () => {
    servePacked(gzipSync("x".repeat(900)));
    const source = await open({ maxBytes: 1000 });
    expect(await source.read({ path: "a.css" }, call)).toMatchObject([{ body: { text: "x".repeat(900) } }]);
    servePacked(gzipSync("x".repeat(5000)));
    await expect(source.read({ path: "a.css" }, call)).rejects.toMatchObject({ kind: "too-large" });
  });

  it("has no ranges", async () => {
    servePacked(gzipSync("one\ntwo\n"));
    const requested = (await open()).read({ path: "a.css", query: { lines: "1-1" } }, call);
    await expect(requested).rejects.toMatchObject({ kind: "unsupported", message: '"a.css" is compressed (gzip), and can only be read completely' }); // prettier-ignore
  });
});

it("an object without a stated length is read", async () => {
  result = (_, response) => {
    response.write("alpha ");
    response.end("beta");
  };
  expect(await (await open()).read({ path: "a.txt" }, call)).toMatchObject([{ body: { text: "alpha beta" } }]);
});

it("a stalled body hits the time limit, and a cancelled one ends immediately", async () => {
  const begun: (() => void)[] = [];
  result = (_, response) => {
    response.writeHead(200, { "Content-Length": "100" });
    response.write("half");
    begun.shift()?.();
  };
  const slow = await open({ timeoutMs: 100 });
  await expect(slow.read({ path: "a" }, call)).rejects.toMatchObject({ kind: "unavailable", passing: true });
  const stop = new AbortController();
  const isBegun = new Promise<void>((resolve) => begun.push(resolve));
  const requested = (await open()).read({ path: "a" }, { ...call, signal: stop.signal });
  await Promise.all([expect(requested).rejects.toMatchObject({ kind: "cancelled" }), isBegun.then(() => stop.abort())]);
});

it("an empty page that is not the last is followed by the next", async () => {
  const requested: (string | null)[] = [];
  result = ({ url = "" }, response) => {
    const token = new URL(url, endpoint).searchParams.get("continuation-token");
    requested.push(token);
    const more = "<IsTruncated>true</IsTruncated><NextContinuationToken>more+1=</NextContinuationToken>";
    response.end(token === null ? listOf(more) : listOf(objectIn("a")));
  };
  expect(await (await open()).list({ limit: 10 }, call)).toMatchObject({ items: [{ path: "a" }] });
  expect(requested).toEqual([null, "more+1="]);
  result = (_, response) =>
    void response.end(listOf("<IsTruncated>true</IsTruncated><NextContinuationToken>1</NextContinuationToken>"));
  await expect((await open()).list({ limit: 10 }, call)).rejects.toMatchObject({ kind: "unavailable" });
});

it("keys are returned unchanged, however they are encoded", async () => {
  const written = ["a+b", "a%2Bb", "a%20b", "%E6%97%A5", "a//b", "100%"];
  result = (_, response) =>
    void response.end(listOf(`${written.map(objectIn).join("")}<EncodingType>url</EncodingType>`));
  const { items } = await (await open()).list({ limit: 10 }, call);
  expect(items.map(({ path }) => path)).toEqual(["a b", "a+b", "a b", "日", "a//b", "100%"]);
});

it("a truncated error response counts by its status", async () => {
  result = (_, response) => void response.writeHead(503).end("<Error><Code>Slow");
  await expect((await open()).list({ limit: 1 }, call)).rejects.toMatchObject({ kind: "busy" });
});

it("an endpoint with a password is rejected, without the password", async () => {
  const refused = await open({ endpoint: "https://user:hunter2@s3.example" }).then(
    (source) => source.list({ limit: 1 }, call).catch((cause: unknown) => cause),
    (cause: unknown) => cause,
  );
  expect(refused).toMatchObject({ kind: "invalid" });
  expect(JSON.stringify([refused, String((refused as Error).cause)])).not.toContain("hunter2");
});

describe("credentials", () => {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-s3-"));
  const file = join(folder, "credentials");
  const env = { AWS_SHARED_CREDENTIALS_FILE: file, AWS_CONFIG_FILE: join(folder, "none"), HOME: folder };
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("are read as the store's own tools read them", async () => {
    writeFileSync(
      file,
      "# mine\r\n[other]\naws_access_key_id=no\n\n[default] # first\n AWS_Access_Key_Id = id # comment\naws_secret_access_key = a=b/c+d;e\n; aws_session_token = no\n",
    );
    const found = await createCredentials({}, env, () => 0).get();
    expect(found).toEqual({ accessKeyId: "id", secretAccessKey: "a=b/c+d;e", sessionToken: undefined });
  });

  it("that are incomplete are rejected", async () => {
    const half = createCredentials(
      { accessKeyId: "id" },
      { AWS_ACCESS_KEY_ID: "x", AWS_SECRET_ACCESS_KEY: "y" },
      () => 0,
    );
    await expect(half.get()).rejects.toMatchObject({
      kind: "denied",
      message: expect.stringMatching(/belong together/),
    });
  });

  it.each([
    [{ profile: "team" }, {}, "profile"],
    [{}, { AWS_PROFILE: "team" }, "AWS_PROFILE"],
  ])("of a profile that no file has are reported as such: %j %j", async (options, more, named) => {
    writeFileSync(file, "[default]\naws_access_key_id = id\naws_secret_access_key = s\n");
    const files = `${JSON.stringify(file)} or ${JSON.stringify(join(folder, "none"))}`;
    await expect(createCredentials(options, { ...env, ...more }, () => 0).get()).rejects.toMatchObject({
      kind: "denied",
      message: `no profile "team" in ${files}; check ${named}`,
    });
  });

  it("in a file that cannot be read are reported as such", async () => {
    const unreadable = { ...env, AWS_SHARED_CREDENTIALS_FILE: folder };
    await expect(createCredentials({}, unreadable, () => 0).get()).rejects.toMatchObject({
      kind: "denied",
      message: `${JSON.stringify(folder)} cannot be read (EISDIR); check its permissions`,
    });
  });

  it("that have expired are looked up again at the next request", async () => {
    writeFileSync(file, "[default]\naws_access_key_id = old\naws_secret_access_key = s\n");
    const credentials = createCredentials({}, env, () => 0);
    const store = createS3Store({ region: "us-east-1", endpoint, pathStyle: true, credentials, timeoutMs: 5000 });
    result = ({ headers }, response) => {
      if (headers.authorization?.includes("Credential=new/")) return void response.end(listOf(objectIn("a")));
      response.writeHead(400).end("<Error><Code>ExpiredToken</Code></Error>");
    };
    const query = () => store.list({ bucket: "b", prefix: "", folded: false, limit: 1 }, call.signal);
    await expect(query()).rejects.toMatchObject({ kind: "denied", message: expect.stringMatching(/have expired/) });
    writeFileSync(file, "[default]\naws_access_key_id = new\naws_secret_access_key = s\n");
    expect(await query()).toMatchObject({ objects: [{ key: "a" }] });
  });
});
