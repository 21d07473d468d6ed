import { SdkHttpError } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serve, type Serving, stdioOf } from "./command.ts";
import { createFolder, type Folder } from "./folder.ts";
import { overHttp, overSse, overStdio, visitV2 } from "./sdk-v2.ts";
import { describeVisit } from "./visits.ts";

const modern = "2026-07-28";
const legacy = "2025-11-25";
const pinned = { pin: modern };

let folder: Folder;
let serving: Serving;

beforeAll(async () => {
  folder = await createFolder();
  serving = await serve(folder);
});
afterAll(async () => {
  await serving[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

// This client knows the codes of both eras, and reports what is not there under the newer.
const notFoundCode = -32602;

for (const { name, revision, mode } of [
  { name: "auto", revision: modern, mode: "auto" as const },
  { name: "pinned", revision: modern, mode: pinned },
  { name: "legacy", revision: legacy, mode: "legacy" as const },
]) {
  const stdio = () => visitV2(overStdio(stdioOf(folder)), mode);
  const http = () => visitV2(overHttp(serving.url), mode);
  describeVisit({ name: `stdio, ${name}`, revision, notFoundCode, open: stdio }, () => folder);
  describeVisit({ name: `HTTP, ${name}`, revision, notFoundCode, open: http }, () => folder);
}
const sse = () => visitV2(overSse(serving.sseUrl), "legacy");
describeVisit({ name: "HTTP with SSE, legacy", revision: legacy, notFoundCode, open: sse }, () => folder);

describe("the client's own list", () => {
  it.each(["auto", "legacy"] as const)("gives all pages as one (%s)", async (mode) => {
    await using visitor = await visitV2(overHttp(serving.url), mode);
    const { resources } = await visitor.client.listResources();
    expect(resources.map(({ uri }) => uri).sort()).toEqual(folder.uris);
  });
});

describe("the client's skills", () => {
  it("are none, and the children of every directory can be listed", async () => {
    await using visitor = await visitV2(overHttp(serving.url), pinned);
    const skills = new SkillsClient(visitor.client);
    expect(skills.directoryRead).toBe(true);
    expect(await skills.list()).toMatchObject({ skills: [], invalid: [] });
    const { resources } = await skills.readDirectory(folder.uri("many"));
    const below = folder.uris.filter((uri) => uri.startsWith(`${folder.uri("many")}/`));
    expect(resources.map(({ uri }) => uri).sort()).toEqual(below);
  });
});

describe("a server over stdio", () => {
  it.each(["auto", "legacy"] as const)("ends when its client hangs up (%s)", async (mode) => {
    const transport = new StdioClientTransport({ ...stdioOf(folder), stderr: "inherit" });
    const visitor = await visitV2(transport, mode);
    const { pid } = transport;
    expect(pid).toBeTypeOf("number");
    await visitor[Symbol.asyncDispose]();
    expect(() => process.kill(pid as number, 0)).toThrow("ESRCH");
  });
});

describe("a server that is replaced by another on the same port", () => {
  it.each([
    { how: "stops", end: (each: Serving) => each.stop(), closed: "graceful" },
    { how: "is killed", end: (each: Serving) => each.kill(), closed: "remote" },
  ])("ends a listen when it $how; the same client listens again", async ({ end, closed }) => {
    await using first = await serve(folder);
    await using visitor = await visitV2(overHttp(first.url), pinned);
    const uri = folder.uri("notes.txt");
    const subscription = await visitor.client.listen({ resourceSubscriptions: [uri] });
    expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: [uri] });
    await end(first);
    expect(await subscription.closed).toBe(closed);

    await using _second = await serve(folder, first.port);
    await visitor.client.listen({ resourceSubscriptions: [uri] });
    await folder.write("notes.txt", "Buy ink.\n");
    await visitor.heard.next(`updated ${uri}`);
    expect(await visitor.read(uri)).toMatchObject([{ text: "Buy ink.\n" }]);
  });

  it("does not know the sessions of the one before: they are answered 404, and initialize begins another", async () => {
    await using first = await serve(folder);
    await using before = await visitV2(overHttp(first.url), "legacy");
    const uri = folder.uri("notes.txt");
    await before.watch(uri);
    await first.stop();

    await using _second = await serve(folder, first.port);
    await expect(before.read(uri)).rejects.toSatisfy((error) => SdkHttpError.isInstance(error) && error.status === 404);

    await using after = await visitV2(overHttp(first.url), "legacy");
    await after.watch(uri);
    await folder.write("notes.txt", "Buy ink.\n");
    await after.heard.next(`updated ${uri}`);
  });

  it("takes a cursor of the one before", async () => {
    await using first = await serve(folder);
    await using visitor = await visitV2(overHttp(first.url), pinned);
    const page = await visitor.client.request({ method: "resources/list", params: {} });
    await first.kill();

    await using _second = await serve(folder, first.port);
    const next = await visitor.client.listResources({ cursor: page.nextCursor as string });
    const seen = new Set(page.resources.map(({ uri }) => uri));
    expect(next.resources.length).toBeGreaterThan(0);
    expect(next.resources.filter(({ uri }) => seen.has(uri))).toEqual([]);
  });
});
