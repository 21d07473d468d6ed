/** The s3 source against a real server. Swift is not Amazon: signed regions, session tokens and storage classes are not covered by it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AwsClient } from "aws4fetch";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { ResourceError } from "../../src/errors.ts";
import { createRuntime, logLine } from "../../src/server/runtime.ts";
import type { Source } from "../../src/source.ts";
import s3, { type S3SourceOptions } from "../../src/sources/s3.ts";
import { contractContent } from "../../src/testing/contract-content.ts";
import { sourceContract } from "../../src/testing/source-contract.ts";
import { hasSwift, startSwift, type Swift, swiftPackages } from "./swift.ts";

const isThere = "CI" in process.env || hasSwift();
const call = { caller: { id: "test" }, signal: new AbortController().signal };
const quiet = createRuntime({ write: () => true });

let swift: Swift;
let client: AwsClient;
let buckets = 0;
let bucket = "";

async function put(key: string, body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Response> {
  const way = key.split("/").map(encodeURIComponent).join("/");
  const response = await client.fetch(`${swift.endpoint}/${bucket}/${way}`, {
    method: "PUT",
    body: typeof body === "string" ? new TextEncoder().encode(body) : (body as Uint8Array<ArrayBuffer>),
    headers,
  });
  expect(response.status).toBe(200);
  return response;
}

async function remove(key: string): Promise<void> {
  const way = key.split("/").map(encodeURIComponent).join("/");
  await client.fetch(`${swift.endpoint}/${bucket}/${way}`, { method: "DELETE" });
}

async function newBucket(): Promise<string> {
  bucket = `bucket-${(buckets += 1)}`;
  expect((await client.fetch(`${swift.endpoint}/${bucket}`, { method: "PUT" })).status).toBe(200);
  return bucket;
}

function open(options: Partial<S3SourceOptions> = {}): Promise<Source> {
  const { endpoint, accessKeyId, secretAccessKey } = swift;
  const parsed = s3.options(z).parse({ buckets: [bucket], endpoint, accessKeyId, secretAccessKey });
  return s3.open({ ...parsed, ...options }, quiet);
}

async function refusalOf(asked: Promise<unknown>): Promise<ResourceError> {
  return asked.then(
    () => expect.fail("it was answered"),
    (cause: unknown) => cause as ResourceError,
  );
}

describe.skipIf(!isThere)(`s3 (skipped where there is no Swift; Debian has it: ${swiftPackages})`, () => {
  beforeAll(async () => {
    swift = await startSwift();
    const { accessKeyId, secretAccessKey } = swift;
    client = new AwsClient({ accessKeyId, secretAccessKey, service: "s3", region: "us-east-1", retries: 0 });
  }, 90_000);
  afterAll(() => swift?.stop());

  const held = Object.entries(contractContent);
  sourceContract("s3", {
    abilities: ["stat", "children", "templates", "complete", "watch"],
    async open() {
      await newBucket();
      for (const [key, text] of held) await put(key, text ?? "");
      return open({ pollMs: 50 });
    },
    write: async (path, text) => void (await put(path, text)),
    remove,
    expansions: [{ at: { path: "docs/b.txt", query: { lines: "2-2" } }, text: "with a second line" }],
    completions: [
      { template: "{+key}{?versionId,lines,bytes}", variable: "key", value: "docs/d", expected: "docs/deep/" },
      { template: "{+key}{?versionId,lines,bytes}", variable: "key", value: "names/日", expected: "names/日本語.md" },
    ],
    timeoutMs: 60_000,
  });

  describe("several buckets", () => {
    it("are directories, and list one after the other, page by page", async () => {
      const [one, two] = [await newBucket(), await newBucket()];
      for (const name of [one, two]) {
        bucket = name;
        for (const key of ["a", "b/c", "d"]) await put(key, `${name} ${key}`);
      }
      const source = await open({ buckets: [two, one] });
      expect(s3.base!(s3.options(z).parse({ buckets: [one, two] }))).toBe("s3://");
      const found: string[] = [];
      for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
        const page = await source.list({ limit: 2, ...(cursor !== undefined && { cursor }) }, call);
        found.push(...page.items.map(({ path }) => path));
        cursor = page.next;
      }
      expect(found).toEqual([one, two].flatMap((name) => [`${name}/a`, `${name}/b/c`, `${name}/d`]));
      const { items } = await source.children!({ path: "" }, { limit: 10 }, call);
      expect(items.map(({ path }) => path)).toEqual([one, two]);
      expect(await source.read({ path: `${two}/b/c` }, call)).toMatchObject([{ body: { text: `${two} b/c` } }]);
    });

    it("that are not named are all that there are, and one that is not served is not there", async () => {
      const [one, two] = [await newBucket(), await newBucket()];
      const { items } = await (await open({ buckets: [] })).children!({ path: "" }, { limit: 1000 }, call);
      expect(items.map(({ path }) => path)).toEqual(expect.arrayContaining([one, two]));
      const another = await newBucket();
      const source = await open({ buckets: [one, two] });
      await expect(source.read({ path: `${another}/a` }, call)).rejects.toMatchObject({ kind: "not-found" });
      await expect(source.children!({ path: another }, { limit: 1 }, call)).rejects.toMatchObject({
        kind: "not-found",
      });
    });
  });

  it("serves only what begins with the prefix, through every entry point", async () => {
    await newBucket();
    for (const key of ["public/a", "public/b/c", "private/a", "public-not/a"]) await put(key, key);
    const source = await open({ prefix: "public/" });
    expect((await source.list({ limit: 10 }, call)).items.map(({ path }) => path)).toEqual(["public/a", "public/b/c"]);
    const { items } = await source.children!({ path: "" }, { limit: 10 }, call);
    expect(items.map(({ path }) => path)).toEqual(["public"]);
    for (const path of ["private/a", "public-not/a", "private"]) {
      await expect(source.read({ path }, call)).rejects.toMatchObject({ kind: "not-found" });
      await expect(source.stat!({ path }, call)).rejects.toMatchObject({ kind: "not-found" });
      await expect(source.children!({ path }, { limit: 1 }, call)).rejects.toMatchObject({ kind: "not-found" });
    }
    const [template] = source.templates!;
    const ask = { template: template!, variable: "key", value: "p", given: {} };
    expect(await source.complete!(ask, call)).toEqual([
      { value: "public/b/", reveals: { path: "public/b" } },
      { value: "public/a", reveals: { path: "public/a" } },
    ]);
  });

  it("says what its owner says of an object, and reads any version of it", async () => {
    await newBucket();
    const versioning = `<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>`;
    await client.fetch(`${swift.endpoint}/${bucket}?versioning`, { method: "PUT", body: versioning });
    const first = await put("report", "one", { "Content-Type": "text/csv", "x-amz-meta-owner": "keiri" });
    const version = first.headers.get("x-amz-version-id")!;
    await put("report", "two");
    const source = await open();
    const [part] = await source.read({ path: "report", query: { versionId: version } }, call);
    expect(part).toMatchObject({
      body: { text: "one" },
      mimeType: "text/csv",
      meta: { "pressmark/versionId": version, "pressmark/metadata": { owner: "keiri" } },
    });
    expect(await source.read({ path: "report" }, call)).toMatchObject([{ body: { text: "two" } }]);
    const wrong = source.read({ path: "report", query: { versionId: "1000000000.00000" } }, call);
    await expect(wrong).rejects.toMatchObject({ kind: "not-found" });
  });

  it("reads what is large by ranges, and otherwise gives a link where it may", async () => {
    await newBucket();
    await put("large.txt", "一行目\n二行目\n三行目\n");
    const refused = await refusalOf((await open({ maxBytes: 20 })).read({ path: "large.txt" }, call));
    expect(refused).toMatchObject({ kind: "too-large", details: { size: 30, ranges: ["bytes=0-19"] } });
    const source = await open({ maxBytes: 20 });
    const lines = await source.read({ path: "large.txt", query: { lines: "2-2" } }, call);
    expect(lines).toMatchObject([{ body: { text: "二行目\n" } }]);
    const bytes = await source.read({ path: "large.txt", query: { bytes: "0-9" } }, call);
    expect(bytes).toMatchObject([{ body: { text: "一行目\n" } }]);

    const [link] = await (await open({ maxBytes: 20, linkSeconds: 60 })).read({ path: "large.txt" }, call);
    expect(link).toMatchObject({ mimeType: "text/uri-list", freshness: { scope: "private" } });
    const url = link && "text" in link.body ? link.body.text.trim() : "";
    expect(await (await fetch(url)).text()).toBe("一行目\n二行目\n三行目\n");
  });

  it("leaves out the marks that folders are made of, and finds folders all the same", async () => {
    await newBucket();
    await put("made/", "");
    await put("made/by/hand.txt", "x");
    const source = await open();
    expect((await source.list({ limit: 10 }, call)).items.map(({ path }) => path)).toEqual(["made/by/hand.txt"]);
    expect(await source.stat!({ path: "made" }, call)).toMatchObject({ mimeType: "inode/directory" });
    const { items } = await source.children!({ path: "made" }, { limit: 10 }, call);
    expect(items.map(({ path }) => path)).toEqual(["made/by"]);
    await expect(source.read({ path: "made" }, call)).rejects.toMatchObject({ kind: "directory" });
  });

  it("goes on after the store was away, and tells what changed meanwhile", async () => {
    await newBucket();
    await put("a", "one");
    const source = await open({ pollMs: 50, timeoutMs: 500 });
    const stop = new AbortController();
    const changes = (await source.watch!({ ...call, signal: stop.signal }))[Symbol.asyncIterator]();
    swift.pause();
    await expect(source.read({ path: "a" }, call)).rejects.toMatchObject({ kind: "unavailable", passing: true });
    swift.resume();
    await put("a", "two, and longer");
    expect((await changes.next()).value).toEqual({ kind: "changed", path: "a" });
    stop.abort();
    expect(await source.read({ path: "a" }, call)).toMatchObject([{ body: { text: "two, and longer" } }]);
  });

  it("says what is wrong with credentials and buckets, and never the secret", async () => {
    await newBucket();
    const secret = "planted-secret-4711";
    const wrong = await refusalOf((await open({ secretAccessKey: secret })).list({ limit: 1 }, call));
    expect(wrong).toMatchObject({ kind: "denied", message: expect.stringMatching(/rejects the credentials/) });
    const absent = await refusalOf((await open({ buckets: ["not-there"] })).list({ limit: 1 }, call));
    expect(absent).toMatchObject({ kind: "not-found", message: expect.stringMatching(/no such bucket/) });
    const gone = await refusalOf((await open({ endpoint: "http://127.0.0.1:9" })).list({ limit: 1 }, call));
    expect(gone).toMatchObject({ kind: "unavailable", passing: true });
    for (const each of [wrong, absent, gone])
      expect(logLine("error", each.message, { cause: each, details: each.details })).not.toContain(secret);
  });

  it.each([
    ["nothing", ""],
    ["no XML", "<<<>>>"],
    ["another page", "<html><body>It works!</body></html>"],
    ["half a list", "<ListBucketResult><Contents><Key>a"],
  ])("takes a server that answers with %s for one that is not there", async (_what, body) => {
    const server = createServer((_request, response) => void response.end(body));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const refused = await refusalOf((await open({ endpoint })).list({ limit: 1 }, call));
    expect(refused.kind).toBe("unavailable");
    server.close();
  });
});
