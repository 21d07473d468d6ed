/** Tools of other servers through a server that mounts them. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { everything } from "./peers.ts";
import { ownerToken, serveConfig, toolsWith, visit, visitOlder } from "./relaying.ts";

const mounted = { mounts: { every: { source: "mcp", ...everything, tools: true } } };

const call = (name: string) => ({ name, arguments: { message: "hello" } });

/** One server for the tests that change nothing. */
let url: string;
const closers: (() => void | Promise<void>)[] = [];
const atEnd = (close: () => void | Promise<void>): void => void closers.push(close);
beforeAll(async () => {
  ({ url } = await serveConfig(mounted, atEnd));
  await toolsWith("every_echo", await visit(url, { atEnd }));
});
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
});

it("a tool keeps its definition under a name with the mount", async () => {
  const { tools } = await (await visit(url)).listTools();
  const names = tools.map(({ name }) => name);
  expect(names).toContain("search_resources");
  expect(names).toContain("every_echo");
  expect(tools.find(({ name }) => name === "every_get-structured-content")).toMatchObject({
    title: "Get Structured Content Tool",
    description: expect.stringContaining("structured content"),
    inputSchema: { type: "object", properties: { location: expect.any(Object) } },
    outputSchema: { type: "object", properties: { temperature: expect.any(Object) } },
    annotations: { readOnlyHint: true, destructiveHint: false },
  });
});

it("a result keeps its structure, and links lead to resources that can be read here", async () => {
  const client = await visit(url);
  const weather = await client.callTool({ name: "every_get-structured-content", arguments: { location: "Chicago" } });
  expect(weather.structuredContent).toMatchObject({ temperature: expect.any(Number) });
  const image = await client.callTool({ name: "every_get-tiny-image", arguments: {} });
  expect(image.content).toContainEqual(
    expect.objectContaining({ type: "image", mimeType: "image/png", data: expect.stringMatching(/^iVBOR/) }),
  );
  const annotated = await client.callTool({
    name: "every_get-annotated-message",
    arguments: { messageType: "error", includeImage: false },
  });
  expect(annotated.content[0]).toMatchObject({ type: "text", annotations: { priority: 1 } });

  const { content: links } = await client.callTool({ name: "every_get-resource-links", arguments: { count: 2 } });
  const linked = links.filter((block) => block.type === "resource_link");
  expect(linked.map(({ uri }) => uri)).toEqual([
    expect.stringMatching(/^mcp:\/\/every\/demo:%2F%2Fresource/),
    expect.stringMatching(/^mcp:\/\/every\/demo:%2F%2Fresource/),
  ]);
  for (const { uri } of linked) expect((await client.readResource({ uri })).contents[0]).toMatchObject({ uri });
  const { content: embedded } = await client.callTool({ name: "every_get-resource-reference", arguments: {} });
  const { resource } = embedded.find((block) => block.type === "resource")!;
  expect(resource.uri).toMatch(/^mcp:\/\/every\//);
  expect((await client.readResource({ uri: resource.uri })).contents[0]).toMatchObject({ uri: resource.uri });
});

it("a client of the older era calls the same tools, and an error of a tool stays one", async () => {
  const client = await visitOlder(url);
  const echo = await client.callTool({ name: "every_echo", arguments: { message: "hello" } });
  expect(echo).toMatchObject({ content: [{ type: "text", text: "Echo: hello" }] });
  expect(await client.callTool({ name: "every_echo", arguments: {} })).toMatchObject({
    isError: true,
    content: [{ type: "text", text: expect.stringContaining("message") }],
  });
});

it("only the named tools pass, and none unless the mount asks", async () => {
  const { url: other } = await serveConfig({
    mounts: {
      few: { source: "mcp", ...everything, tools: ["echo", "get-sum"] },
      none: { source: "mcp", ...everything },
    },
  });
  const names = await toolsWith("few_echo", await visit(other));
  expect(names.filter((name) => /^(?:few|none)_/.test(name))).toEqual(["few_echo", "few_get-sum"]);
});

it("who may not see the whole mount has no tools, who may not write only those that read, and calls are audited", async () => {
  const {
    url: guarded,
    tokenOf,
    audit,
  } = await serveConfig({
    ...mounted,
    callers: { all: {}, part: {}, denied: {}, writer: {} },
    server: { token: ownerToken, audit: true },
    rules: [
      { allow: ["caller:all", "caller:denied"], mounts: ["every"] },
      { allow: ["caller:writer"], mounts: ["every"], write: true },
      { deny: ["caller:denied"], mounts: ["every"], paths: ["demo:%2F%2Fresource/static"] },
      { allow: ["caller:part"], mounts: ["every"], paths: ["demo:%2F%2Fresource"] },
    ],
  });
  await toolsWith("every_echo", await visit(guarded, { token: ownerToken }));
  const toolsOf = async (caller: string) => {
    const client = await visit(guarded, { token: await tokenOf(caller) });
    const { tools } = await client.listTools();
    return { client, names: tools.map(({ name }) => name).filter((name) => name.startsWith("every_")) };
  };
  const [all, part, denied, writer] = await Promise.all(["all", "part", "denied", "writer"].map(toolsOf));
  expect(part!.names).toEqual([]);
  expect(denied!.names).toEqual([]);
  expect(all!.names).toContain("every_echo");
  expect(all!.names).not.toContain("every_toggle-simulated-logging");
  expect(writer!.names).toContain("every_toggle-simulated-logging");

  const refusals = await Promise.all(
    [
      part!.client.callTool(call("every_echo")),
      denied!.client.callTool(call("every_echo")),
      all!.client.callTool(call("every_toggle-simulated-logging")),
      all!.client.callTool(call("every_no-such-tool")),
    ].map((called) => called.catch(({ code, message }: { code: number; message: string }) => ({ code, message }))),
  );
  expect(refusals).toEqual(
    ["every_echo", "every_echo", "every_toggle-simulated-logging", "every_no-such-tool"].map((name) => ({
      code: -32602,
      message: `no tool ${JSON.stringify(name)}`,
    })),
  );
  await all!.client.callTool(call("every_echo"));
  await expect
    .poll(async () => (await audit()).filter(({ what }) => what === "act"), { timeout: 5000 })
    .toMatchObject([{ what: "act", caller: "all", outcome: "allowed", detail: "every/echo" }]);
});
