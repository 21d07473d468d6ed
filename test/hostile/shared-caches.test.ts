/** What was had with credentials is never said to be public: a cache that several people share would hand it on. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Rpc, modernBody, modernHeaders, send } from "./attacker.ts";
import { type Program, startProgram } from "./program.ts";

const token = "a-token-of-32-characters-for-test";
const program = join(import.meta.dirname, "../../bin/pressmark.js");
const publicNotes = `mounts:
  notes:
    source: memory
    resources: { a.txt: anyone may read this, sub/b.txt: this too }
    freshness: { ttlMs: 60000, scope: public }
`;

/** An upstream that says of everything that it may be shared. */
let upstream: Program;
beforeAll(async () => {
  upstream = await startProgram({ files: { "pressmark.yaml": publicNotes } });
});
afterAll(() => upstream[Symbol.asyncDispose]());

const address = () => `http://127.0.0.1:${upstream.port}/mcp`;

/** The scope of every kind of answer that has one. */
async function scopesOf(target: Program, uri: string, headers: Readonly<Record<string, string>> = {}) {
  const ask = async (method: string, params: Record<string, unknown>) => {
    const { text } = await send(target, {
      headers: { ...modernHeaders(method, params["uri"]), ...headers },
      body: JSON.stringify(modernBody(method, params)),
    });
    const { result, error } = JSON.parse(text) as Rpc;
    expect(error, `${method} ${uri}`).toBeUndefined();
    return result?.["cacheScope"];
  };
  const directory = uri.slice(0, uri.lastIndexOf("/"));
  return {
    discover: await ask("server/discover", {}),
    list: await ask("resources/list", {}),
    templates: await ask("resources/templates/list", {}),
    tools: await ask("tools/list", {}),
    prompts: await ask("prompts/list", {}),
    read: await ask("resources/read", { uri }),
    directory: await ask("resources/directory/read", { uri: directory }),
    directoryText: await ask("resources/read", { uri: directory }),
  };
}

describe("a gateway", () => {
  const uri = "mcp://upstream/memory:%2F%2Fnotes/sub/b.txt";

  async function scopesThrough(mount: string, env: Readonly<Record<string, string>> = {}) {
    const config = `mounts:\n  upstream:\n    source: mcp\n${mount.replaceAll(/^/gm, "    ")}\n`;
    await using gateway = await startProgram({ files: { "pressmark.yaml": config }, env });
    return await scopesOf(gateway, uri);
  }

  it("passes on that an answer is public where it sent nothing that says who it is", async () => {
    expect((await scopesThrough(`url: ${address()}`)).read).toBe("public");
  });

  it.each<[string, () => string]>([
    ["a header", () => `url: ${address()}\nheaders: { Authorization: Bearer ${token} }`],
    ["a header of another name", () => `url: ${address()}\nheaders: { X-Tenant: "7" }`],
    ["a header from the environment", () => `url: ${address()}\nheaders: { Authorization: "Bearer \${env:KEY}" }`],
    ["a token in the query", () => `url: ${address()}?key=${token}`],
    ["an address from the environment", () => "url: ${env:ADDRESS}"],
    ["an address from a file", () => "url: ${file:address.txt:-" + address() + "}"],
    [
      "a program with an environment",
      () =>
        `command: ${process.execPath}\nargs: ["${program}", stdio, --config, "${join(upstream.folder, "pressmark.yaml")}"]\nenv: { KEY: "${token}" }`,
    ],
    [
      "a program",
      () =>
        `command: ${process.execPath}\nargs: ["${program}", stdio, --config, "${join(upstream.folder, "pressmark.yaml")}"]`,
    ],
  ])("that uses %s says of nothing that it is public", async (_, mount) => {
    const scopes = await scopesThrough(mount(), { KEY: token, ADDRESS: address() });
    expect(scopes).toEqual(Object.fromEntries(Object.keys(scopes).map((each) => [each, "private"])));
  });

  it("does so whatever its own config says of the mount", async () => {
    const config = `url: ${address()}\nheaders: { Authorization: Bearer ${token} }\nfreshness: { scope: public }`;
    const scopes = await scopesThrough(config);
    expect(scopes).toEqual(Object.fromEntries(Object.keys(scopes).map((each) => [each, "private"])));
  });

  it("says that an answer is private where its own config says so", async () => {
    expect((await scopesThrough(`url: ${address()}\nfreshness: { scope: private }`)).read).toBe("private");
  });
});

describe("a server that asks for a token", () => {
  it("says of nothing that it is public, whatever its config says", async () => {
    await using guarded = await startProgram({
      files: { "pressmark.yaml": publicNotes },
      env: { PRESSMARK_TOKEN: token },
    });
    const scopes = await scopesOf(guarded, "memory://notes/sub/b.txt", { Authorization: `Bearer ${token}` });
    expect(scopes).toEqual(Object.fromEntries(Object.keys(scopes).map((each) => [each, "private"])));
  });
});

describe("a mount", () => {
  it("that came from the environment is not public, though its config says so", async () => {
    const config = publicNotes.replace("anyone may read this", '"${env:KEY}"');
    await using target = await startProgram({ files: { "pressmark.yaml": config }, env: { KEY: token } });
    expect((await scopesOf(target, "memory://notes/sub/b.txt")).read).toBe("private");
  });

  it("without credentials is public where its config says so", async () => {
    expect((await scopesOf(upstream, "memory://notes/sub/b.txt")).read).toBe("public");
  });
});
