/** Every spelling of what is not served, at every door: the answer is to the letter that of a file that was never there. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, askIn, dial, expectServed, initialize, modernBody, rawPost, type Rpc } from "./attacker.ts";
import { type TestServer, memoryBase, openTestServer, secret } from "./test-server.ts";

/** Below the folder's base. */
const paths = [
  // What is hidden, secret, or of others.
  ".env",
  ".ENV",
  "%2eenv",
  "%2Eenv",
  "．env",
  "%EF%BC%8Eenv",
  "id_rsa",
  "ID_RSA",
  "i%64_rsa",
  "id_rsa%00",
  "id_rsa%20",
  "id_rsa.",
  "id_rsa/",
  "id_rsa/.",
  "keys/server.pem",
  "keys/ID_RSA",
  "keys/server.pem%00.txt",
  ".git",
  ".git/",
  ".git/config",
  "%2egit/config",
  ".git%2fconfig",
  ".git%5cconfig",
  ".GIT/config",
  "shelf/../.git/config",
  ".hidden",
  ".hidden/inner.txt",
  "node_modules",
  "node_modules/other/index.js",
  "NODE_MODULES/other/index.js",
  "node_module%73/other/index.js",
  "ｎode_modules/other/index.js",
  // Ways up.
  "..",
  "../",
  "../outside.txt",
  "%2e%2e/outside.txt",
  "%2E%2E/outside.txt",
  ".%2e/outside.txt",
  "%2e./outside.txt",
  "..%2foutside.txt",
  "..%2Foutside.txt",
  "%2e%2e%2foutside.txt",
  "%252e%252e/outside.txt",
  "%252e%252e%252foutside.txt",
  "..%252foutside.txt",
  "..\\outside.txt",
  "..%5coutside.txt",
  "%2e%2e%5coutside.txt",
  "shelf\\..\\..\\outside.txt",
  "%c0%ae%c0%ae/outside.txt",
  "%c0%ae%c0%ae%c0%afoutside.txt",
  "%e0%80%ae%e0%80%ae/outside.txt",
  "%f0%80%80%ae/outside.txt",
  "..%c0%afoutside.txt",
  "..%c1%9coutside.txt",
  "%u002e%u002e/outside.txt",
  "%uff0e%uff0e/outside.txt",
  "．．/outside.txt",
  "%EF%BC%8E%EF%BC%8E/outside.txt",
  "..／outside.txt",
  "..%EF%BC%8Foutside.txt",
  "‥/outside.txt",
  "․․/outside.txt",
  "..∕outside.txt",
  "..⁄outside.txt",
  "shelf/../../outside.txt",
  "shelf/../open.txt",
  "shelf/./page-10.txt",
  "./open.txt",
  "shelf/..",
  "shelf/.",
  "shelf/%2e%2e/open.txt",
  "....//outside.txt",
  "..../outside.txt",
  ".../outside.txt",
  "..;/outside.txt",
  "..%00/outside.txt",
  "%00../outside.txt",
  "..%0d%0a/outside.txt",
  "..%09/outside.txt",
  " ../outside.txt",
  ".. /outside.txt",
  "../served/open.txt",
  "../served-too/outside.txt",
  "%2e%2e/served/open.txt",
  "/../outside.txt",
  "//../outside.txt",
  "shelf//page-10.txt",
  "/open.txt",
  "//open.txt",
  "open.txt/",
  "open.txt/.",
  "open.txt/..",
  "open.txt//",
  "open.txt/x",
  "open.txt%2f",
  "open.txt%5c",
  // Links out.
  "link-out.txt",
  "link-up.txt",
  "link-to-env.txt",
  "link-to-proc.txt",
  "link-loop.txt",
  "folder-out",
  "folder-out/",
  "folder-out/outside.txt",
  "folder-out/served/.env",
  "folder-out/served-too/outside.txt",
  // Tricks with what follows and with names.
  "open.txt#",
  "open.txt#/../.env",
  "open.txt%23",
  "open.txt%3f",
  "open.txt?x",
  "open.txt?../outside.txt",
  "open.txt?path=../outside.txt",
  "open.txt;x",
  ".env?",
  ".env#",
  ".env?x=y",
  "%",
  "%2",
  "%zz",
  "%ff",
  "%ed%a0%80",
  "%00",
  "open.txt%00",
  "open%00.txt",
  "open.txt.",
  "open.txt ",
  "open.txt%20",
  "OPEN.TXT",
  "open.txt::$DATA",
  "shelf%2fpage-10.txt",
  "con",
  "nul",
  "~",
  "~root/.bashrc",
  "$HOME/.bashrc",
  "`id`",
  "|id",
  "proc/self/environ",
  "C:/boot.ini",
  "C%3A/boot.ini",
  "\\\\host\\share",
];

const never = "never-was-there";

/** As a sentence quotes it. */
function shortened(uri: string): string {
  return uri.length > 120 ? `${uri.slice(0, 120)}…` : uri;
}

/** With the URI taken out, nothing tells one answer from the other. */
function without(uri: string, answer: unknown): string {
  const text = JSON.stringify(answer);
  expect(text).not.toContain(secret);
  expect(text).not.toContain("root:x:0");
  return text
    .replaceAll(JSON.stringify(uri), '"URI"')
    .replaceAll(JSON.stringify(JSON.stringify(shortened(uri))).slice(1, -1), '"SHORT"');
}

function valuesOf({ result }: Rpc): readonly string[] {
  return (result as { completion: { values: string[] } }).completion.values;
}

describe("what is not served", () => {
  let pressmark: TestServer;
  let session: string;
  let uris: string[];
  beforeAll(async () => {
    pressmark = await openTestServer();
    session = await initialize(pressmark);
    const { folder, base } = pressmark;
    const above = folder.slice(0, folder.lastIndexOf("/"));
    const plain = base.slice("file://".length, -1);
    uris = [
      ...paths.map((path) => base + path),
      // The same folder and others, by other beginnings.
      `file://${above}/outside.txt`,
      `file://${plain}/../outside.txt`,
      `file://${plain}%2f.env`,
      `file://${plain}-too/outside.txt`,
      `file:${plain}/open.txt`,
      `file:${plain}/.env`,
      `file:/${plain}/open.txt`,
      `file:///${plain}/open.txt`,
      `file:////${plain}/open.txt`,
      `file://${plain}//open.txt`,
      `file://${plain}/.env`,
      `FILE://${plain}/.env`,
      `file://localhost${plain}/.env`,
      `file://LOCALHOST${plain}/../outside.txt`,
      `file://127.0.0.1${plain}/open.txt`,
      `file://localhost:80${plain}/open.txt`,
      `file://user@localhost${plain}/open.txt`,
      `file://user:word@${plain}/open.txt`,
      `file://evil.example${plain}/open.txt`,
      `file://localhost.${plain}/open.txt`,
      `file://.${plain}/open.txt`,
      `file://..${plain}/open.txt`,
      `file://%2e%2e${plain}/open.txt`,
      `file://[::1]${plain}/open.txt`,
      `file:\\\\${plain}/open.txt`,
      `file:///%2e%2e${plain}/.env`,
      `file:///./${plain.slice(1)}/open.txt`,
      "file:",
      "file:/",
      "file://",
      "file:///",
      "file:////",
      "file:///etc/passwd",
      "file:///proc/self/environ",
      "file:///dev/zero",
      "file:///dev/stdin",
      "file:///proc/self/fd/0",
      "file:/etc/passwd",
      "file://localhost/etc/passwd",
      `memory://house/../${plain}/open.txt`,
      `memory:${plain}/open.txt`,
      `${memoryBase}..`,
      `${memoryBase}room-10/../room-11/note.txt`,
      `${memoryBase}%2e%2e/room-10/note.txt`,
      `${memoryBase}room-10%2fnote.txt`,
      "memory://HOUSE/room-10/note.txt",
      "memory://house:80/room-10/note.txt",
      `jar:${base}!/open.txt`,
      `view-source:${base}open.txt`,
      "http://169.254.169.254/latest/meta-data/",
      "data:text/plain,x",
      "javascript:alert(1)",
      "urn:x:y",
    ];
  });
  afterAll(async () => {
    await expectServed(pressmark);
    expect(pressmark.log.join("")).not.toContain(secret);
    await pressmark[Symbol.asyncDispose]();
  });

  async function expectLikeMissing(endpoint: (uri: string) => Promise<unknown>): Promise<void> {
    const wrong: string[] = [];
    for (const uri of uris) {
      const missing =
        pressmark.base + never + "x".repeat(Math.max(0, uri.length - pressmark.base.length - never.length));
      if (without(uri, await endpoint(uri)) !== without(missing, await endpoint(missing))) wrong.push(uri);
    }
    expect(wrong).toEqual([]);
  }

  it("is not read, in either era", async () => {
    await expectLikeMissing((uri) => ask(pressmark, "resources/read", { uri }));
    await expectLikeMissing((uri) => askIn(pressmark, session, "resources/read", { uri }));
    const { error } = await ask(pressmark, "resources/read", { uri: pressmark.base + never });
    expect(error).toEqual({ code: -32602, message: "Resource not found", data: { uri: pressmark.base + never } });
  });

  it("is no directory", async () => {
    await expectLikeMissing((uri) => ask(pressmark, "resources/directory/read", { uri }));
  });

  it("is not subscribed to", async () => {
    await expectLikeMissing((uri) => askIn(pressmark, session, "resources/subscribe", { uri }));
    const { error } = await askIn(pressmark, session, "resources/subscribe", { uri: pressmark.base + never });
    expect(error?.code).toBe(-32002);
  });

  it("is not listened to", async () => {
    const known = `${pressmark.base}open.txt`;
    const asked = [...uris, known, pressmark.base + never];
    const body = JSON.stringify(
      modernBody("subscriptions/listen", { notifications: { resourceSubscriptions: asked } }),
    );
    const line = await dial(pressmark, rawPost("subscriptions/listen", body));
    const said = await line.until(/acknowledged[^]*\n\n/);
    const { params } = JSON.parse(/^data: (.*)$/m.exec(said)?.[1] ?? "null") as { params: { notifications: object } };
    expect(params.notifications).toEqual({ resourceSubscriptions: [known] });
    line.hangUp();
  });

  it("is not known to completion as a resource", async () => {
    const argument = { name: "path", value: "" };
    await expectLikeMissing((uri) =>
      askIn(pressmark, session, "completion/complete", { ref: { type: "ref/resource", uri }, argument }),
    );
  });

  it("is not suggested", async () => {
    const ref = { type: "ref/resource", uri: `${pressmark.base}{+path}{?lines,bytes,as}` };
    const complete = async (value: string): Promise<Rpc> =>
      askIn(pressmark, session, "completion/complete", { ref, argument: { name: "path", value } });
    const ways = [
      ...paths,
      "/",
      "/etc/",
      "./",
      "..//",
      "../served/",
      "folder-out/",
      "folder-out/served/",
      ".git/",
      ".hidden/",
      "node_modules/",
      "keys/",
      "link",
      "i",
      ".",
      "",
    ];
    for (const value of ways) {
      for (const suggested of valuesOf(await complete(value))) {
        const read = await askIn(pressmark, session, "resources/read", {
          uri: pressmark.base + suggested.replace(/\/$/, ""),
        });
        expect([value, suggested, read.error]).toEqual([value, suggested, undefined]);
        expect(JSON.stringify(read)).not.toContain(secret);
      }
    }
    expect(valuesOf(await complete("shelf/page-1"))).toHaveLength(10);
  });

  it("is not listed, neither as a resource nor as a child", async () => {
    const listed = JSON.stringify(await ask(pressmark, "resources/list"));
    const children = JSON.stringify(
      await ask(pressmark, "resources/directory/read", { uri: pressmark.base.slice(0, -1) }),
    );
    const read = JSON.stringify(await ask(pressmark, "resources/read", { uri: pressmark.base.slice(0, -1) }));
    for (const text of [listed, children, read]) {
      expect(text).toContain("open.txt");
      expect(text).not.toMatch(/\.env|id_rsa|ID_RSA|\.git|hidden|node_modules|server\.pem|outside|link-|folder-out/i);
    }
  });

  it("is still the same file under the spellings that are right", async () => {
    const { base } = pressmark;
    for (const uri of [
      `${base}open.txt`,
      `${base}%6fpen.txt`,
      base.replace("file://", "FILE://localhost") + "open.txt",
      `${base}open.txt?`,
    ])
      expect((await ask(pressmark, "resources/read", { uri })).result).toMatchObject({
        contents: [{ uri, text: "Anyone may read this.\n" }],
      });
  });
});
