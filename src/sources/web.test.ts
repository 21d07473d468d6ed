import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { withStandardLayers } from "../layers/standard.ts";
import { deadlinesByHand } from "../layers/test-deadlines.ts";
import { createRuntime } from "../server/runtime.ts";
import { createClock } from "../testing/clock.ts";
import { asking, collect } from "../testing/pages.ts";
import { sourceContract } from "../testing/source-contract.ts";
import web, { createWeb, type WebOptions } from "./web.ts";
import { createPermit } from "../backends/web/addresses.ts";
import { createHosts } from "./web/hosts.ts";
import { parseRobots } from "./web/robots.ts";
import { answering, startTestWebServer } from "./web/test-web-server.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };
const quiet = createRuntime({ write: () => true });

const typed = (type: string, body: Uint8Array) => answering(200, { "Content-Type": type }, body);
const packed = (length: number) =>
  answering(200, { "Content-Type": "text/plain", "Content-Encoding": "gzip" }, gzipSync("x".repeat(length)));
const leadingTo = (location: string) => answering(302, { Location: location });

const server = await startTestWebServer();
const { pages, host, origin } = server;
const port = Number(new URL(origin).port);
const asked = () => server.requests.map(({ path }) => path);
afterAll(() => server.close());
beforeEach(() => server.clear());

const initial: WebOptions = {
  hosts: [origin],
  sites: [],
  maxPages: 500,
  refreshMs: 20,
  pages: [],
  direct: false,
  robots: false,
  allowAddresses: ["127.0.0.1"],
  maxBytes: 10_000,
  timeoutMs: 5000,
  pollMs: 20,
};
const nowhere = () => Promise.reject(new Error("no name is resolved here"));
const open = (options: Partial<WebOptions> = {}) => createWeb({ ...initial, ...options }, quiet, nowhere);
const textOf = async (path: string, options?: Partial<WebOptions>) => {
  const [part] = await open(options).read({ path: `${host}/${path}` }, call);
  return part && "text" in part.body ? part.body.text : undefined;
};

let edits = 0;
sourceContract("web", {
  abilities: ["stat", "templates", "complete", "watch"],
  pathOf: (path) => `${host}/${path}`,
  async open(content) {
    for (const [path, text] of Object.entries(content)) pages.set(path, text ?? "");
    const urls = Object.keys(content).map((path) => `${origin}/${path.split("/").map(encodeURIComponent).join("/")}`);
    return open({ pages: urls });
  },
  change() {
    edits += 1;
    pages.set("readme.md", `another text, ${edits}`);
    return [{ kind: "changed", path: `${host}/readme.md` }];
  },
  expansions: [{ at: { path: `${host}/docs/a.txt` }, text: "alpha" }],
  completions: [
    { template: "{host}/{+path}", variable: "host", value: "127", expected: host },
    { template: "{host}/{+path}", variable: "path", value: "docs/b", given: { host }, expected: "docs/b.txt" },
  ],
});

describe("a page", () => {
  it("in HTML is returned as Markdown, decoded by its declared encoding", async () => {
    pages.set("a", typed("text/html", Buffer.from("<title>設定</title><p>予算は<b>千円</b>です。")));
    expect(await textOf("a")).toBe("# 設定\n\n予算は千円です。\n");
    pages.set("b", typed("text/html; charset=shift_jis", Buffer.from([0x3c, 0x70, 0x3e, 0x93, 0xfa, 0x96, 0x7b])));
    expect(await textOf("b")).toBe("日本\n");
  });

  it("is decompressed, up to the limit", async () => {
    pages.set("small", packed(5000));
    expect(await textOf("small")).toBe("x".repeat(5000));
    pages.set("bomb", packed(50_000_000));
    await expect(textOf("bomb")).rejects.toMatchObject({ kind: "too-large" });
  });

  it("is requested conditionally, and cached while it does not change", async () => {
    pages.set("a", (request, response) => {
      if (request.headers["if-none-match"] === '"1"') response.writeHead(304).end();
      else
        response
          .writeHead(200, { ETag: '"1"', "Content-Type": "text/plain", "Cache-Control": "max-age=60" })
          .end("one");
    });
    const source = open();
    const first = await source.read({ path: `${host}/a` }, call);
    expect(first).toMatchObject([{ body: { text: "one" }, freshness: { ttlMs: 60_000, scope: "public" } }]);
    // The same object, so that nothing is serialized twice.
    expect((await source.read({ path: `${host}/a` }, call))[0]?.body).toBe(first[0]?.body);
  });

  it.each([
    [404, {}, "not-found"],
    [410, {}, "not-found"],
    [403, {}, "denied"],
    [429, { "Retry-After": "7" }, "busy"],
    [500, {}, "unavailable"],
    [418, {}, "unavailable"],
  ])("that responds with %i gives the matching error", async (status, headers, kind) => {
    pages.set("a", answering(status, headers));
    await expect(textOf("a")).rejects.toMatchObject({ kind });
  });

  it("of a site that hangs, disconnects or sends invalid responses is unavailable", async () => {
    pages.set("hangs", () => undefined);
    await expect(textOf("hangs", { timeoutMs: 50 })).rejects.toMatchObject({
      kind: "unavailable",
      message: `"${host}" did not respond within 50 ms`,
    });
    pages.set("cut", (_, response) => {
      response.writeHead(200, { "Content-Length": "100" });
      response.write("half");
      response.destroy();
    });
    await expect(textOf("cut")).rejects.toMatchObject({ kind: "unavailable" });
    pages.set("nonsense", (_, response) => void response.socket?.end("220 ready\r\n"));
    await expect(textOf("nonsense")).rejects.toMatchObject({ kind: "unavailable" });
    pages.set("packed", answering(200, { "Content-Encoding": "gzip" }, "no gzip"));
    await expect(textOf("packed")).rejects.toMatchObject({ kind: "unavailable" });
  });
});

describe("a watch", () => {
  it("reports changes of listed and watched pages, and nothing of an unreachable one", async () => {
    for (const name of ["a", "b", "read"]) pages.set(name, name);
    const source = open({ pages: [`${origin}/a`, `${origin}/b`, `${origin}/later`] });
    await source.read({ path: `${host}/read` }, call);
    const stop = new AbortController();
    await source.follow!({ path: `${host}/read` }, { ...call, signal: stop.signal });
    const changes = (await source.watch!({ ...call, signal: stop.signal }))[Symbol.asyncIterator]();
    const next = async () => (await changes.next()).value as unknown;
    pages.set("b", answering(503));
    pages.set("a", "another");
    expect(await next()).toEqual({ kind: "changed", path: `${host}/a` });
    pages.set("later", "now");
    expect(await next()).toEqual({ kind: "appeared", path: `${host}/later`, isUnlisted: true });
    pages.delete("a");
    expect(await next()).toEqual({ kind: "gone", path: `${host}/a`, isUnlisted: true });
    pages.set("b", "b");
    pages.set("read", "again");
    expect(await next()).toEqual({ kind: "changed", path: `${host}/read` });
    // A page that is only watched is not listed, so it is not indexed.
    const isListed = ["a", "b", "later", "read"].map((name) => source.lists!({ path: `${host}/${name}` }));
    expect(isListed).toEqual([true, true, true, false]);
    stop.abort();
    expect(await changes.next()).toMatchObject({ done: true });
  });
});

it("a listed page has only the annotations that are configured", async () => {
  const source = open({ pages: [`${origin}/plain`, { url: `${origin}/weighed`, priority: 0.9 }] });
  const { items } = await source.list({ limit: 10 }, call);
  expect(items.map(({ annotations }) => annotations)).toEqual([undefined, { priority: 0.9 }]);
});

it("a watch reports changes of a page since it was last read", async () => {
  pages.set("late", "one");
  const source = open();
  const stop = new AbortController();
  const watching = { ...call, signal: stop.signal };
  const changes = (await source.watch!(watching))[Symbol.asyncIterator]();
  await source.stat!({ path: `${host}/late` }, call);
  pages.set("late", "two");
  await source.follow!({ path: `${host}/late` }, watching);
  expect((await changes.next()).value).toEqual({ kind: "changed", path: `${host}/late` });
  stop.abort();
});

it("a watch does not wait for a site that hangs, and then reports lost", async () => {
  const { runtime, advance } = createClock();
  const held = Promise.withResolvers<ServerResponse>();
  pages.set("slow", (_, response) => held.resolve(response));
  const source = createWeb({ ...initial, pages: [`${origin}/slow`] }, runtime, nowhere);
  const stop = new AbortController();
  const arming = source.watch!({ ...call, signal: stop.signal });
  const response = await held.promise;
  await advance(10_000);
  const first = (await arming)[Symbol.asyncIterator]().next();
  response.end("at last");
  expect((await first).value).toEqual({ kind: "lost" });
  stop.abort();
});

describe("a page with a query", () => {
  const urls = ["?id=1", "?id=2", "?id=1&x=%2B+y"].map((search) => `${origin}/a${search}`);

  it("is a different page than the one without, in list, stat, read and watch", async () => {
    for (const url of urls) pages.set(decodeURIComponent(url.slice(origin.length + 1)), url);
    pages.set("z", "last");
    const source = open({ pages: [...urls, `${origin}/z`] });
    const entries = await collect((cursor) => source.list(asking(1, cursor), call));
    expect(entries).toHaveLength(4);
    for (const entry of entries) {
      const at = { path: entry.path, ...(entry.query && { query: entry.query }) };
      expect(await source.stat!(at, call)).toEqual(entry);
      expect(await source.read(at, call)).toMatchObject([{ body: { text: expect.any(String) } }]);
    }
    await expect(source.stat!({ path: `${host}/a` }, call)).rejects.toMatchObject({ kind: "not-found" });
    const stop = new AbortController();
    const changes = (await source.watch!({ ...call, signal: stop.signal }))[Symbol.asyncIterator]();
    pages.set("a?id=2", "another");
    expect((await changes.next()).value).toEqual({ kind: "changed", path: `${host}/a` });
    expect(source.lists!({ path: `${host}/a` })).toBe(false);
    expect(source.lists!({ path: `${host}/a`, query: { id: "2" } })).toBe(true);
    stop.abort();
  });
});

describe("the time limit of a page", () => {
  it.each(["robots.txt", "start", "elsewhere"])("covers all requests, also if %s is slow", async (slow) => {
    const { deadlines, setMs, pass } = deadlinesByHand();
    const broken = Promise.withResolvers<void>();
    pages.set("robots.txt", "");
    pages.set("start", leadingTo(`${origin}/elsewhere`));
    pages.set("elsewhere", "at last");
    pages.set(slow, (_, response) => {
      response.once("close", () => broken.resolve());
      pass();
    });
    const source = withStandardLayers(open({ robots: true, timeoutMs: 3000 }), { name: "web" }, quiet, { deadlines });
    await expect(source.read({ path: `${host}/start` }, call)).rejects.toMatchObject({ kind: "unavailable" });
    expect(asked()).toEqual(["/robots.txt", "/start", "/elsewhere"].slice(0, asked().indexOf(`/${slow}`) + 1));
    expect(new Set(setMs)).toEqual(new Set([3000]));
    // The rules of a site are fetched for all callers.
    if (slow !== "robots.txt") await broken.promise;
    await source.close?.();
  });
});

describe("a visit", () => {
  it("ends in time, whatever it waits for", async () => {
    const hangs = new Promise<never>(() => undefined);
    const source = createWeb({ ...initial, hosts: ["https://a.example"], timeoutMs: 50 }, quiet, () => hangs);
    await expect(source.read({ path: "a.example/x" }, call)).rejects.toMatchObject({ kind: "unavailable" });
    pages.set("switch", (_, response) => {
      response.socket?.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n");
    });
    await expect(textOf("switch")).rejects.toMatchObject({ kind: "unavailable" });
    pages.set("stalls", (_, response) => void response.writeHead(200, { "Content-Encoding": "gzip" }).write("\x1f"));
    await expect(textOf("stalls", { timeoutMs: 50 })).rejects.toMatchObject({ kind: "unavailable" });
  });

  it("ends immediately when cancelled, also while robots.txt is fetched", async () => {
    const stop = new AbortController();
    pages.set("robots.txt", () => stop.abort());
    const reading = open({ robots: true }).read({ path: `${host}/a` }, { ...call, signal: stop.signal });
    await expect(reading).rejects.toMatchObject({ kind: "cancelled" });
  });

  it("sends the validators of a page to that page only", async () => {
    const heard: unknown[] = [];
    const saying = (body: string) => (request: IncomingMessage, response: ServerResponse) => {
      heard.push(request.headers["if-none-match"]);
      if (request.headers["if-none-match"]) return void response.writeHead(304).end();
      response.writeHead(200, { ETag: `"${body}"`, "Content-Type": "text/plain" }).end(body);
    };
    pages.set("end", saying("old"));
    pages.set("start", leadingTo("/end"));
    const source = open();
    const read = async () => (await source.read({ path: `${host}/start` }, call))[0]?.body;
    expect(await read()).toEqual({ text: "old" });
    expect(await read()).toEqual({ text: "old" });
    pages.set("start", saying("new"));
    expect(await read()).toEqual({ text: "new" });
    expect(heard).toEqual([undefined, '"old"', undefined]);
  });
});

it("converts a large page to Markdown too, decoded by its declared encoding", async () => {
  const html = `<p>${"x".repeat(100_000)}</p><p>caf\u00e9</p>`;
  pages.set("a", typed("text/html; charset=iso-8859-1", Buffer.from(html, "latin1")));
  expect(await textOf("a", { maxBytes: 1_000_000 })).toMatch(/x\n\ncafé\n$/);
});

it("handles invalid types and ages of a page", async () => {
  pages.set("a", answering(200, { "Content-Type": "no type", "Cache-Control": "max-age=100", Age: "90" }, "a"));
  expect(await open().read({ path: `${host}/a` }, call)).toMatchObject([
    { mimeType: "application/octet-stream", freshness: { ttlMs: 10_000 } },
  ]);
});

describe("what may be requested", () => {
  it.each([
    ["another host", "example.com/a"],
    ["another port", `127.0.0.1:${port + 1}/a`],
    ["a user before the host", `evil@${host}/a`],
    ["an invalid host", "a b/c"],
    ["a shorter spelling of the address", `127.1:${port}/a`],
    ["a second spelling of the host's first page", `${host}/`],
    ["a URL that is too long", `${host}/${"a".repeat(9000)}`],
  ])("is not %s", async (_what, path) => {
    await expect(open().read({ path }, call)).rejects.toMatchObject({ kind: "not-found" });
    expect(asked()).toEqual([]);
  });

  it("is a host in one spelling, otherwise a rule for it could be bypassed", async () => {
    const source = createWeb({ ...initial, hosts: ["a.example", "*.b.example"] }, quiet, nowhere);
    for (const path of ["A.example/x", "a.example./x", "x.B.example/x", "x.b.example./x", "ａ.example/x"])
      await expect(source.read({ path }, call), path).rejects.toMatchObject({ kind: "not-found" });
  });

  it("is a host by https if both schemes are allowed", () => {
    const { schemeOf } = createHosts(["http://a.example", "https://a.example", "http://b.example"]);
    expect(["a.example", "b.example", "c.example"].map(schemeOf)).toEqual(["https:", "http:", "https:"]);
  });

  it("is a subdomain of a host, but not a name that only ends like it", async () => {
    const resolved: string[] = [];
    const source = createWeb({ ...initial, hosts: ["*.docs.example"] }, quiet, async (name) => {
      resolved.push(name);
      return [];
    });
    for (const name of ["a.docs.example", "docs.example", "evildocs.example"])
      await expect(source.read({ path: `${name}/x` }, call)).rejects.toThrow();
    expect(resolved).toEqual(["a.docs.example"]);
  });

  it("is no name with a private address, and the checked address is the one that is contacted", async () => {
    pages.set("a", "alpha");
    let looks = 0;
    const rebinding = (addresses: readonly string[]) =>
      createWeb(
        { ...initial, hosts: [`http://site.example:${port}`], allowAddresses: ["127.0.0.1"] },
        quiet,
        async () => {
          looks += 1;
          return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
        },
      );
    const at = { path: `site.example:${port}/a` };
    expect(await rebinding(["127.0.0.1"]).read(at, call)).toMatchObject([{ body: { text: "alpha" } }]);
    expect(looks).toBe(1);
    for (const closed of ["10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fd00::1"])
      await expect(rebinding(["127.0.0.1", closed]).read(at, call)).rejects.toMatchObject({ kind: "denied" });
    expect(asked()).toEqual(["/a"]);
  });

  it("is not a private address, which is logged and not revealed to the caller", async () => {
    const logged: string[] = [];
    const tools = { ...quiet, log: (...said: unknown[]) => void logged.push(JSON.stringify(said)) };
    const source = createWeb({ ...initial, hosts: ["http://site.example"], allowAddresses: [] }, tools, async () => [
      { address: "10.11.12.13", family: 4 },
    ]);
    const refused = source.read({ path: "site.example/a" }, call).catch((cause: unknown) => cause as Error);
    expect(await refused).toMatchObject({
      kind: "denied",
      message: "the host of the page has a private address",
    });
    expect(logged.join()).toContain("10.11.12.13");
  });

  it("is not revealed to the caller after a redirect, and neither is its host", async () => {
    for (const target of ["http://inner.example:8443/a", `http://127.0.0.1:${port + 1}/a`, "ftp://inner.example/a"]) {
      pages.set("a", leadingTo(target));
      const refused = await textOf("a", { hosts: [origin, `http://127.0.0.1:${port + 1}`] }).catch(String);
      expect(refused).toMatch(/^ResourceError/);
      expect(refused).not.toMatch(new RegExp(`inner|8443|${port + 1}`));
    }
  });

  it("is checked again at every redirect", async () => {
    pages.set("end", "there");
    pages.set("good", leadingTo("/end"));
    expect(await textOf("good")).toBe("there");
    for (const target of [
      "http://169.254.169.254/latest",
      "https://example.com/",
      "file:///etc/passwd",
      `http://u:p@${host}/end`,
    ]) {
      pages.set("bad", leadingTo(target));
      await expect(textOf("bad")).rejects.toMatchObject({ kind: "denied" });
    }
    pages.set("round", leadingTo("/round"));
    await expect(textOf("round")).rejects.toMatchObject({ kind: "unavailable" });
  });

  it("is what robots.txt allows, unless it is disabled", async () => {
    pages.set("robots.txt", "User-agent: *\nDisallow: /private/\nAllow: /private/open\n");
    pages.set("private/a", "a");
    pages.set("private/open", "b");
    await expect(textOf("private/a", { robots: true })).rejects.toMatchObject({ kind: "denied" });
    expect(await textOf("private/open", { robots: true })).toBe("b");
    expect(await textOf("private/a")).toBe("a");
    pages.set("robots.txt", `User-agent: *\nDisallow: /private/a\n${"#\n".repeat(300_000)}Disallow: /\n`);
    expect(await textOf("private/open", { robots: true })).toBe("b");
    await expect(textOf("private/a", { robots: true })).rejects.toMatchObject({ kind: "denied" });
    pages.set("robots.txt", answering(503));
    await expect(textOf("private/open", { robots: true })).rejects.toMatchObject({ kind: "unavailable" });
  });

  it("rejects invalid values in the config", () => {
    for (const hosts of [
      ["https://a.example/path"],
      ["u:p@a.example"],
      ["a.*.example"],
      ["a.example?x"],
      ["a.example\\x"],
    ])
      expect(() => open({ hosts })).toThrow(/is not a host/);
    expect(() => open({ pages: ["ftp://a.example/"] })).toThrow(/is not a page/);
    expect(() => open({ pages: ["https://user:hunter2@a.example/"] })).toThrow(
      /may not contain a user name or password/,
    );
    for (const range of [
      "10.0.0.0/99",
      "10.1.2.3/",
      "10.0.0.0/8/9",
      "10.0.0.0/-1",
      "fe80::1%eth0",
      "::/0x8",
      " 10.0.0.1",
    ])
      expect(() => open({ allowAddresses: [range] }), range).toThrow(/not an IP address or range/);
    for (const url of ["https://a.example/100%", "https://a.example/?a=1&a=2", "https://a.example/%00"])
      expect(() => open({ pages: [url] }), url).toThrow(/cannot be listed/);
    for (const url of ["http://a.example/", "https://a.example:8443/"])
      expect(() => open({ pages: [url], direct: true }), url).toThrow(/cannot be listed/);
    expect(web.base!(web.options(z).parse({ direct: true }))).toBe("https://");
  });
});

describe("an address of the network", () => {
  it.each(["93.184.215.14", "8.8.8.8", "2606:4700::1111", "2001:4860:4860::8888"])(
    "that is public is open: %s",
    (address) => {
      expect(createPermit([])(address)).toBe(true);
    },
  );

  it.each([
    ..."0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1 172.31.255.255 192.168.1.1".split(
      " ",
    ),
    ..."192.0.0.170 198.18.0.1 224.0.0.1 255.255.255.255 :: ::1 ::ffff:8.8.8.8 64:ff9b::808:808 64:ff9b:1::1".split(
      " ",
    ),
    ..."2002:7f00:1:: 2001::1 2001:db8::1 fc00::1 fd12:3456::1 fe80::1 ff02::1 fec0::1 nonsense".split(" "),
  ])("that is not public is closed: %s", (address) => {
    expect(createPermit([])(address)).toBe(false);
  });
});

describe("robots.txt", () => {
  it.each([
    ["", "/a", true],
    ["User-agent: *\nDisallow: /", "/a", false],
    ["User-agent: *\nDisallow:", "/a", true],
    ["User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", true],
    ["User-agent: *\nDisallow: /*.pdf$", "/a.pdf", false],
    ["User-agent: *\nDisallow: /*.pdf$", "/a.pdf?x", true],
    ["User-agent: *\nDisallow: /a*b*c", "/aXbXc/d", false],
    ["User-agent: *\nDisallow: /*aab", "/aaab", false],
    ["User-agent: *\nDisallow: /*abab*c", "/abaababc", false],
    ["User-agent: *\nDisallow: /x*", "/x", false],
    ["\ufeffUser-agent: *\nDisallow: /", "/a", false],
    ["User-agent: *\nDisallow: /%7Ejoe/", "/~joe/x", false],
    ["User-agent: other\nDisallow: /\n\nUser-agent: *\nAllow: /", "/a", true],
    ["User-agent: *\nDisallow: /\n\nUser-agent: Pressmark\nDisallow: /x", "/a", true],
    ["User-agent: other\nUser-agent: pressmark\nDisallow: /a # not this", "/a", false],
  ])("%j on %s", (text, path, mayRead) => {
    expect(parseRobots(text, "pressmark").allows(path)).toBe(mayRead);
  });

  it("with a pattern made to be slow is quick", () => {
    const robots = parseRobots(`User-agent: *\nDisallow: /${"*a".repeat(900)}$`, "pressmark");
    expect(robots.allows(`/${"a".repeat(5000)}b`)).toBe(true);
    const half = "a".repeat(950);
    const long = parseRobots(`User-agent: *\n${`Disallow: /*${half}b${half}\n`.repeat(260)}`, "pressmark");
    expect(long.allows(`/${"a".repeat(200_000)}`)).toBe(true);
    expect(long.allows(`/${"a".repeat(2000)}b${half}`)).toBe(false);
  });
});

it("a failed robots.txt is fetched again at the next request", async () => {
  const { runtime, advance } = createClock();
  const source = createWeb({ ...initial, robots: true }, runtime, nowhere);
  pages.set("a", "alpha");
  pages.set("robots.txt", "User-agent: *\nDisallow: /a");
  await expect(source.read({ path: `${host}/a` }, call)).rejects.toMatchObject({ kind: "denied" });
  pages.set("robots.txt", "");
  await expect(source.read({ path: `${host}/a` }, call)).rejects.toMatchObject({ kind: "denied" });
  await advance(60 * 60 * 1000);
  expect(await source.read({ path: `${host}/a` }, call)).toMatchObject([{ body: { text: "alpha" } }]);
});
