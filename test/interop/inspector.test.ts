import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serve, type Serving, stdioOf } from "./command.ts";
import { png } from "./fixture-media.ts";
import { createFolder, type Folder } from "./folder.ts";
import { createInspector, type Inspector, targetOf } from "./inspector.ts";

let folder: Folder;
let serving: Serving;
let inspector: Inspector;

beforeAll(async () => {
  folder = await createFolder();
  serving = await serve(folder);
  inspector = await createInspector(folder.state);
});
afterAll(async () => {
  await inspector[Symbol.asyncDispose]();
  await serving[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const stdio = () => targetOf(stdioOf(folder));
const http = () => [serving.url.href];
const sse = () => [serving.sseUrl.href];

describe.each([
  { over: "stdio", era: "legacy", target: stdio },
  { over: "stdio", era: "modern", target: stdio },
  { over: "HTTP", era: "legacy", target: http },
  { over: "HTTP", era: "modern", target: http },
  { over: "HTTP with SSE", era: "legacy", target: sse },
])("the Inspector over $over in the $era era", ({ era, target }) => {
  const ask = (method: string, ...options: readonly string[]) =>
    inspector.ask(target(), "--protocol-era", era, "--method", method, ...options);

  it("lists every file", async () => {
    const { resources } = (await ask("resources/list")) as { resources: { uri: string }[] };
    expect(resources.map(({ uri }) => uri).sort()).toEqual(folder.uris);
  });

  it("reads text", async () => {
    const uri = folder.uri("notes.txt");
    expect(await ask("resources/read", "--uri", uri)).toMatchObject({
      contents: [{ uri, mimeType: "text/plain", text: "Buy ink.\n" }],
    });
  });

  it("reads bytes", async () => {
    const uri = folder.uri("pixel.png");
    expect(await ask("resources/read", "--uri", uri)).toMatchObject({
      contents: [{ uri, mimeType: "image/png", blob: Buffer.from(png).toString("base64") }],
    });
  });
});

describe("the Inspector", () => {
  it("finds the modern era by itself", async () => {
    const ask = ["--protocol-era", "auto", "--method", "resources/read", "--uri", folder.uri("notes.txt")];
    expect(await inspector.ask(http(), ...ask)).toMatchObject({ cacheScope: "private" });
  });

  it("lists the template", async () => {
    expect(await inspector.ask(http(), "--method", "resources/templates/list")).toMatchObject({
      resourceTemplates: [{ uriTemplate: folder.template }],
    });
  });

  it("lists the children of a directory", async () => {
    const ask = ["--protocol-era", "modern", "--method", "resources/directory/read", "--uri", folder.uri("")];
    expect(await inspector.ask(http(), ...ask)).toMatchObject({
      resources: expect.arrayContaining([
        expect.objectContaining({ uri: folder.uri("many"), mimeType: "inode/directory" }),
        expect.objectContaining({ uri: folder.uri("notes.txt"), mimeType: "text/plain" }),
      ]),
    });
  });

  it.each(["legacy", "modern"])("says what is not there (%s)", async (era) => {
    const ask = ["--protocol-era", era, "--method", "resources/read", "--uri", folder.uri("gone.txt")];
    await expect(inspector.ask(http(), ...ask)).rejects.toThrow("Resource not found");
  });
});

describe("the Inspector with a connection that it keeps", () => {
  it.each(["legacy", "modern"])("goes on with the server that takes the place of the first (%s)", async (era) => {
    await using first = await serve(folder);
    const name = first.url.href;
    const connect = () => inspector.keep("connect", name, "--era", era);
    const read = () => inspector.keep("--connection", name, "resources/read", folder.uri("notes.txt"));
    const content = { contents: [{ text: "Buy ink.\n" }] };

    expect(await connect()).toMatchObject({ protocolEra: era });
    expect(await read()).toMatchObject(content);
    await first.stop();

    await using _second = await serve(folder, first.port);
    // A session ended with its server; without one there is nothing to begin again.
    if (era === "legacy") await connect();
    expect(await read()).toMatchObject(content);
    await inspector.keep("disconnect", name);
  });
});
