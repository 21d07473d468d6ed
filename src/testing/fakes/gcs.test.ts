import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakeGcs, startFakeGcs } from "./gcs.ts";

let gcs: FakeGcs;
beforeEach(async () => {
  gcs = await startFakeGcs();
  gcs.addBucket("b");
});
afterEach(() => gcs.close());

const request = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${gcs.endpoint}/storage/v1/b${path}`, { headers });
  return { status: response.status, text: await response.text() };
};
const list = async (query: string) => JSON.parse((await request(`/b/o?${query}`)).text) as Record<string, unknown>;

const names = (page: Record<string, unknown>) => (page["items"] as { name: string }[]).map(({ name }) => name);

describe("the fake of Google Cloud Storage", () => {
  it("lists by bytes, from an inclusive offset, page by page, with prefixes counted like objects", async () => {
    for (const name of ["a-b", "a/b", "a/c", "a.b", "～", "🦊"]) gcs.put("b", name, "x");
    expect(names(await list(""))).toEqual(["a-b", "a.b", "a/b", "a/c", "～", "🦊"]);
    expect(names(await list("startOffset=a/b"))).toEqual(["a/b", "a/c", "～", "🦊"]);
    const page = await list("delimiter=/&maxResults=3");
    expect(page).toMatchObject({ items: [{ name: "a-b" }, { name: "a.b" }], prefixes: ["a/"], nextPageToken: "～" });
    expect(await list("delimiter=/&prefix=a/")).toMatchObject({ items: [{ name: "a/b" }, { name: "a/c" }] });
    expect(await list("prefix=none")).toEqual({});
  });

  it("reads a generation, a range, or reports that it is missing", async () => {
    const first = gcs.put("b", "n/a", "hello");
    gcs.put("b", "n/a", "again");
    expect(await request("/b/o/n%2Fa?alt=media")).toEqual({ status: 200, text: "again" });
    expect(await request(`/b/o/n%2Fa?alt=media&generation=${first}`)).toEqual({ status: 200, text: "hello" });
    expect(await request("/b/o/n%2Fa?alt=media", { Range: "bytes=1-2" })).toEqual({ status: 206, text: "ga" });
    expect(await request("/b/o/n%2Fa?alt=media", { Range: "bytes=9-10" })).toMatchObject({ status: 416 });
    expect(JSON.parse((await request("/b/o/n%2Fa")).text)).toMatchObject({ size: "5", generation: expect.any(String) });
    gcs.remove("b", "n/a");
    for (const path of ["/b/o/n%2Fa", "/b/o/none", "/none/o"])
      expect(await request(path)).toMatchObject({ status: 404 });
    expect(await request(`/b/o/n%2Fa?alt=media&generation=${first}`)).toEqual({ status: 200, text: "hello" });
  });

  it("reads only the requested generation, and sends gzip objects as stored", async () => {
    const first = gcs.put("b", "a", gzipSync("hello"), { contentEncoding: "gzip" });
    expect(await request(`/b/o/a?alt=media&ifGenerationMatch=${first}`)).toEqual({ status: 200, text: "hello" });
    expect(JSON.parse((await request("/b/o/a")).text)).toMatchObject({ contentEncoding: "gzip" });
    gcs.put("b", "a", "again");
    expect(await request(`/b/o/a?alt=media&ifGenerationMatch=${first}`)).toMatchObject({ status: 412 });
  });

  it("fails once on request", async () => {
    gcs.fail(503);
    expect(await request("?project=p")).toMatchObject({ status: 503 });
    expect(await request("?project=p")).toEqual({ status: 200, text: '{"items":[{"name":"b"}]}' });
  });
});
