import { createVerify, generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { createRuntime } from "../server/runtime.ts";
import { contractContent } from "../testing/contract-content.ts";
import { type FakeGcs, startFakeGcs } from "../testing/fakes/gcs.ts";
import { sourceContract } from "../testing/source-contract.ts";
import gcs, { type GcsSourceOptions } from "./gcs.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };
const quiet = createRuntime({ write: () => true });

let fake: FakeGcs;
beforeEach(async () => {
  fake = await startFakeGcs();
  fake.addBucket("b");
});
afterEach(() => fake.close());

function open(options: Partial<GcsSourceOptions> = {}) {
  const parsed = gcs.options(z).parse({ buckets: ["b"], anonymous: true, endpoint: fake.endpoint });
  return gcs.open({ ...parsed, ...options }, quiet);
}

sourceContract("gcs", {
  abilities: ["stat", "children", "templates", "complete", "watch"],
  async open() {
    for (const [name, text] of Object.entries(contractContent)) fake.put("b", name, text ?? "");
    return open({ pollMs: 20 });
  },
  write: (path, text) => void fake.put("b", path, text),
  remove: (path) => fake.remove("b", path),
  expansions: [{ at: { path: "docs/b.txt", query: { lines: "2-2" } }, text: "with a second line" }],
  completions: [
    { template: "{+key}{?generation,lines,bytes}", variable: "key", value: "docs/d", expected: "docs/deep/" },
  ],
});

describe("gcs", () => {
  it("reads any generation, and describes it", async () => {
    const first = fake.put("b", "報告.csv", "一", { contentType: "text/csv", metadata: { owner: "keiri" } });
    fake.put("b", "報告.csv", "二");
    const source = await open();
    const at = { path: "報告.csv", query: { generation: first } };
    expect(await source.read(at, call)).toMatchObject([
      {
        body: { text: "一" },
        mimeType: "text/csv",
        meta: { "pressmark/generation": first, "pressmark/metadata": { owner: "keiri" } },
      },
    ]);
    expect(await source.read({ path: "報告.csv" }, call)).toMatchObject([{ body: { text: "二" } }]);
    for (const generation of ["1", "nonsense", "1&alt=media"])
      await expect(source.read({ path: "報告.csv", query: { generation } }, call)).rejects.toMatchObject({
        kind: "not-found",
      });
  });

  it("lists a hundred thousand names with one request per page", async () => {
    for (let index = 0; index < 3000; index += 1) fake.put("b", `logs/${String(index).padStart(6, "0")}`, "x");
    const source = await open();
    let pages = 0;
    let cursor: string | undefined;
    const found = new Set<string>();
    do {
      const page = await source.list({ limit: 1000, ...(cursor !== undefined && { cursor }) }, call);
      for (const { path } of page.items) found.add(path);
      cursor = page.next;
      pages += 1;
    } while (cursor !== undefined);
    expect(found.size).toBe(3000);
    expect(fake.asked).toHaveLength(pages);
  });

  it.each([
    [401, "denied", false],
    [403, "denied", false],
    [404, "not-found", false],
    [429, "busy", true],
    [500, "unavailable", true],
    [503, "busy", true],
    ["garbage", "unavailable", true],
    ["hang", "unavailable", true],
  ] as const)("explains %s", async (how, kind, passing) => {
    const source = await open({ timeoutMs: 100 });
    fake.fail(how);
    await expect(source.list({ limit: 1 }, call)).rejects.toMatchObject({ kind, passing });
    expect(await source.list({ limit: 1 }, call)).toEqual({ items: [] });
  });

  it("reads a gzip object completely, and rejects ranges of it", async () => {
    fake.put("b", "a.css", gzipSync("x".repeat(900)), { contentType: "text/css", contentEncoding: "gzip" });
    fake.put("b", "bomb", gzipSync("x".repeat(50_000)), { contentEncoding: "gzip" });
    const source = await open({ maxBytes: 1000 });
    expect(await source.read({ path: "a.css" }, call)).toMatchObject([{ body: { text: "x".repeat(900) } }]);
    await expect(source.read({ path: "bomb" }, call)).rejects.toMatchObject({ kind: "too-large" });
    const range = source.read({ path: "a.css", query: { bytes: "0-9" } }, call);
    await expect(range).rejects.toMatchObject({ kind: "unsupported" });
  });

  it.each([
    ["no list", { items: 5, prefixes: "x" }, []],
    ["names that are none", { items: [null, {}, { name: 5 }, { name: "a" }], prefixes: [null, 1] }, ["a"]],
  ])("treats %s as missing", async (_what, given, paths) => {
    const server = createServer((_request, response) => void response.end(JSON.stringify(given)));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const source = await open({ endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    expect((await source.list({ limit: 10 }, call)).items.map(({ path }) => path)).toEqual(paths);
    server.close();
  });

  it("continues after an empty page, and stops if pages have no end", async () => {
    let isEndless = false;
    const server = createServer(({ url = "" }, response) => {
      const isFirst = !url.includes("pageToken=");
      response.end(JSON.stringify(isEndless || isFirst ? { nextPageToken: "1" } : { items: [{ name: "a" }] }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const source = await open({ endpoint });
    expect((await source.list({ limit: 10 }, call)).items).toMatchObject([{ path: "a" }]);
    isEndless = true;
    await expect(source.list({ limit: 10 }, call)).rejects.toMatchObject({ kind: "unavailable" });
    const all = await open({ endpoint, buckets: [], project: "p" });
    await expect(all.children!({ path: "" }, { limit: 9 }, call)).rejects.toMatchObject({ kind: "unavailable" });
    server.close();
  });

  it("needs buckets or a project", async () => {
    const source = await open({ buckets: [] });
    await expect(source.list({ limit: 1 }, call)).rejects.toMatchObject({ kind: "invalid" });
    const all = await open({ buckets: [], project: "p" });
    expect((await all.children!({ path: "" }, { limit: 9 }, call)).items).toMatchObject([{ path: "b" }]);
  });
});

describe("a service account", () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const folder = mkdtempSync(join(tmpdir(), "pressmark-gcs-"));
  const keyFile = join(folder, "key.json");
  writeFileSync(
    keyFile,
    JSON.stringify({
      type: "service_account",
      client_email: "reader@example.iam.gserviceaccount.com",
      private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
      private_key_id: "1",
      project_id: "example",
    }),
  );
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("authenticates each request with its own key", async () => {
    fake.put("b", "a", "alpha");
    const source = await open({ anonymous: false, keyFile });
    expect(await source.read({ path: "a" }, call)).toMatchObject([{ body: { text: "alpha" } }]);
    const [head = "", body = "", signature = ""] = String(fake.headers["authorization"])
      .replace("Bearer ", "")
      .split(".");
    const verify = createVerify("RSA-SHA256").update(`${head}.${body}`);
    expect(verify.verify(publicKey, signature, "base64url")).toBe(true);
    expect(JSON.parse(Buffer.from(body, "base64url").toString())).toMatchObject({
      iss: "reader@example.iam.gserviceaccount.com",
      scope: "https://www.googleapis.com/auth/devstorage.read_only",
    });
  });

  it("signs a link to a large object, as Google checks it", async () => {
    fake.put("b", "large (1).bin", "0123456789");
    const source = await open({ anonymous: false, keyFile, maxBytes: 5, linkSeconds: 60 });
    const [part] = await source.read({ path: "large (1).bin" }, call);
    const link = new URL(part && "text" in part.body ? part.body.text.trim() : "");
    const signature = link.searchParams.get("X-Goog-Signature")!;
    const query = link.search.slice(1).replace(/&X-Goog-Signature=.*/, "");
    const canonical = ["GET", link.pathname, query, `host:${link.host}`, "", "host", "UNSIGNED-PAYLOAD"].join("\n");
    const { createHash } = await import("node:crypto");
    const given = [
      "GOOG4-RSA-SHA256",
      link.searchParams.get("X-Goog-Date"),
      link.searchParams.get("X-Goog-Credential")!.split("/").slice(1).join("/"),
      createHash("sha256").update(canonical).digest("hex"),
    ].join("\n");
    expect(link.pathname).toBe("/b/large%20%281%29.bin");
    expect(createVerify("RSA-SHA256").update(given).verify(publicKey, signature, "hex")).toBe(true);
  });

  it("reports a missing key file", async () => {
    const source = await open({ anonymous: false, keyFile: join(folder, "none.json") });
    await expect(source.list({ limit: 1 }, call)).rejects.toMatchObject({
      kind: "denied",
      message: expect.stringMatching(/^no key file .*; check keyFile$/),
    });
  });
});
