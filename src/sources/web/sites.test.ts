import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { createRuntime } from "../../server/runtime.ts";
import { ownTitle } from "../../lib/own-title.ts";
import { createClock } from "../../testing/clock.ts";
import { contractContent } from "../../testing/contract-content.ts";
import { asking, collect } from "../../testing/pages.ts";
import { sourceContract } from "../../testing/source-contract.ts";
import { serverCaller } from "../../resources.ts";
import type { Runtime } from "../../source.ts";
import { createWeb, type WebOptions } from "../web.ts";
import { answering, startTestWebServer, tagged } from "./test-web-server.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };
/** Keeps nothing from one test to the next: its folder cannot be written. */
const quiet: Runtime = { ...createRuntime({ write: () => true }), env: { XDG_CACHE_HOME: "/dev/null" } };
const crawling = { ...call, caller: serverCaller };
const site = await startTestWebServer();
const other = await startTestWebServer();
afterAll(() => [site, other].map((each) => each.close()));
beforeEach(() => [site, other].map((each) => each.clear()));

const initial: WebOptions = {
  hosts: [],
  sites: [`${site.origin}/sitemap.xml`],
  maxPages: 500,
  refreshMs: 20,
  pages: [],
  direct: false,
  robots: true,
  allowAddresses: ["127.0.0.1"],
  maxBytes: 100_000,
  timeoutMs: 5000,
  pollMs: 20,
};
const nowhere = () => Promise.reject(new Error("no name is resolved here"));
const open = (options: Partial<WebOptions> = {}, runtime = quiet) =>
  createWeb({ ...initial, ...options }, runtime, nowhere);
const escaped = (url: string) => url.replaceAll("&", "&amp;");
const urlSet = (urls: readonly string[], more = "") =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls
    .map((url) => `<url>\n  <loc> ${escaped(url)} </loc>${more}</url>`)
    .join("")}</urlset>`;
const index = (urls: readonly string[]) =>
  `<sitemapindex>${urls.map((url) => `<sitemap><loc>${escaped(url)}</loc></sitemap>`).join("")}</sitemapindex>`;
const pathsOf = async (source: ReturnType<typeof open>) =>
  (await collect((cursor) => source.list(asking(100, cursor), call))).map(({ path }) => path);
const under = (names: readonly string[], { host } = site) => names.map((name) => `${host}/${name}`);
const pageRequests = () => site.requests.filter(({ path }) => /^\/[a-c]$/.test(path));
const html = (title: string, text: string) =>
  `<title>${title} | 例のサイト</title><main><h1>${title}</h1><p>${text}</p></main>`;

const encoded = (path: string) => `${site.origin}/${path.split("/").map(encodeURIComponent).join("/")}`;
let edits = 0;
sourceContract("web with a site", {
  abilities: ["stat", "templates", "complete", "watch"],
  pathOf: (path) => `${site.host}/${path}`,
  async open(content) {
    for (const [path, text] of Object.entries(content)) site.pages.set(path, text ?? "");
    site.pages.set("sitemap.xml", urlSet(Object.keys(content).map(encoded)));
    return open();
  },
  change() {
    edits += 1;
    site.pages.set("readme.md", `another text, ${edits}`);
    const fresh = `new-${edits}.txt`;
    site.pages.set(fresh, "new");
    site.pages.set("sitemap.xml", urlSet([...Object.keys(contractContent), fresh].map(encoded)));
    return [
      { kind: "changed", path: `${site.host}/readme.md` },
      { kind: "appeared", path: `${site.host}/${fresh}` },
    ];
  },
  expansions: [{ at: { path: `${site.host}/docs/a.txt` }, text: "alpha" }],
});

describe("a site", () => {
  it("is listed by an index of sitemaps, compressed ones too, whatever they name twice or in a circle", async () => {
    site.pages.set("sitemap.xml", index(["/a.xml", `${site.origin}/b.xml.gz`, "/sitemap.xml", "/a.xml", "/gone.xml"]));
    site.pages.set(
      "a.xml",
      urlSet(["/z", "/a?x=1&y=2", "/z#part"], "<image:image><image:loc>/no</image:loc></image:image>"),
    );
    site.pages.set(
      "b.xml.gz",
      answering(200, { "Content-Type": "application/gzip" }, gzipSync(urlSet(["/設定", "/a"]))),
    );
    const source = open();
    expect(await pathsOf(source)).toEqual(under(["a", "a", "z", "設定"]));
    expect(await source.problems!(call)).toEqual([
      {
        path: `${site.host}/gone.xml`,
        says: expect.stringMatching(/^cannot be read .*; its pages are left out$/) as string,
      },
    ]);
  });

  it("says what it leaves out: other hosts, what robots.txt disallows, and pages beyond the limit", async () => {
    site.pages.set("robots.txt", "User-agent: *\nDisallow: /private");
    site.pages.set(
      "sitemap.xml",
      urlSet(["/a", "/private/b", `${other.origin}/c`, "/100%", "ftp://a.example/", "/d", "/e"]),
    );
    const source = open({ maxPages: 6 });
    expect(await pathsOf(source)).toEqual(under(["a", "d"]));
    expect((await source.problems!(call)).map(({ says }) => says)).toEqual([
      "names more than 6 pages; the others are left out",
      "names pages that robots.txt disallows, which are left out: 1",
      "names pages on hosts that are not allowed, which are left out: 1",
      "names pages whose URLs cannot be listed, which are left out: 2",
    ]);
    await expect(source.read({ path: `${site.host}/private/b` }, call)).rejects.toMatchObject({ kind: "denied" });
    expect(other.requests).toEqual([]);
    expect(await pathsOf(open({ hosts: [other.origin] }))).toContain(`${other.host}/c`);
  });

  it("is listed by llms.txt, with its titles and descriptions, also if only the host is named", async () => {
    site.pages.set(
      "llms.txt",
      `# Example\n\n> Summary\n\n## Docs\n\n- [始め方](/start.md): まず読む\n* [API](${site.origin}/api.md)\n\n[not listed](/no.md)\n`,
    );
    const { items } = await open({ sites: [site.origin] }).list(asking(10), call);
    expect(items).toEqual([
      { path: `${site.host}/api.md`, name: `${site.host}/api.md`, title: "API" },
      { path: `${site.host}/start.md`, name: `${site.host}/start.md`, title: "始め方", description: "まず読む" },
    ]);
  });

  it.each([
    ["missing", answering(404)],
    ["broken", answering(500)],
    ["HTML", "<!doctype html><html><body>no</body></html>"],
    ["of another kind", "<rss><channel/></rss>"],
  ])("whose sitemap is %s is an error, never an empty list", async (_what, page) => {
    const kind = "unavailable";
    site.pages.set("sitemap.xml", page);
    const source = open();
    await expect(source.list(asking(10), call)).rejects.toMatchObject({ kind });
    // The site is not requested again immediately.
    const count = site.requests.length;
    await expect(source.list(asking(10), call)).rejects.toMatchObject({ kind });
    expect(site.requests).toHaveLength(count);
    expect(await source.problems!(call)).toHaveLength(1);
  });

  it("that is slow to tell its pages does not keep a person waiting", async () => {
    const held = Promise.withResolvers<ServerResponse>();
    site.pages.set("sitemap.xml", (_, response) => held.resolve(response));
    const { runtime, advance } = createClock();
    const source = open({}, { ...runtime, env: quiet.env });
    const listing = source.list(asking(10), call).catch((cause: unknown) => cause);
    const response = await held.promise;
    await advance(initial.timeoutMs);
    expect(await listing).toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("still being read") as string,
    });
    response.end(urlSet(["/a"]));
    expect((await source.list(asking(10), crawling)).items).toHaveLength(1);
  });

  it("with a sitemap that is cut, too long, or full of itself is listed as far as it can be", async () => {
    site.pages.set("sitemap.xml", urlSet(["/a", "/b"]).slice(0, -20));
    const cut = open();
    expect(await pathsOf(cut)).toEqual(under(["a"]));
    expect(await cut.problems!(call)).toMatchObject([{ says: "is read only in part: its XML is truncated" }]);
    const bomb = gzipSync(urlSet(["/a"]).replace("</urlset>", `<!--${" ".repeat(30_000_000)}--></urlset>`));
    site.pages.set("sitemap.xml", answering(200, {}, bomb));
    const large = open();
    expect(await pathsOf(large)).toEqual(under(["a"]));
    expect(await large.problems!(call)).toMatchObject([
      { says: expect.stringContaining("more than 5242880 bytes") as string },
    ]);
    site.requests.length = 0;
    for (let at = 0; at < 100; at += 1) site.pages.set(`${at}.xml`, index([`/${at + 1}.xml`, `/${at + 2}.xml`]));
    expect(await pathsOf(open({ sites: [`${site.origin}/0.xml`] }))).toEqual([]);
    expect(site.requests.length).toBeLessThan(10);
  });
});

describe("the title of a page", () => {
  it("is the title of its resource in list, stat and read, without the name of the site", async () => {
    site.pages.set("sitemap.xml", urlSet(["/a", "/b"]));
    for (const name of ["a", "b", "c"]) site.pages.set(name, tagged("text/html", html(`題 ${name}`, "本文")));
    const source = open({ pages: [`${site.origin}/c`, { url: `${site.origin}/b`, title: "Own" }] });
    const [part] = await source.read({ path: `${site.host}/a` }, call);
    expect(part).toMatchObject({ meta: { "pressmark/title": "題 a" } });
    const { items } = await source.list(asking(10), call);
    expect(items.map(({ title }) => title)).toEqual(["題 a", "Own", "題 c"]);
    // Otherwise the tools would show only one of them.
    for (const { name = "", title } of items) expect(ownTitle({ name, title })).toBe(title);
    for (const entry of items) expect(await source.stat!({ path: entry.path }, call)).toEqual(entry);
    site.pages.set("d", tagged("text/html", html("題 d", "本文")));
    expect(await source.stat!({ path: `${site.host}/d` }, call)).toMatchObject({ title: "題 d" });
  });
});

it("a page that is not of the site can be found while the site cannot be read", async () => {
  site.pages.set("sitemap.xml", answering(500));
  for (const name of ["page", "else"]) other.pages.set(name, name);
  const source = open({ hosts: [other.origin], pages: [`${other.origin}/page`] });
  for (const path of under(["page", "else"], other)) expect(await source.stat!({ path }, call)).toMatchObject({ path });
  // A list without the pages of the site would claim to be complete.
  await expect(source.list(asking(10), call)).rejects.toMatchObject({ kind: "unavailable" });
});

describe("a watched site", () => {
  it("is requested again conditionally; only what changed is announced", async () => {
    const names = ["a", "b", "c"];
    const set = (more?: string) =>
      site.pages.set(
        "sitemap.xml",
        tagged(
          "text/xml",
          urlSet(
            names.map((name) => `/${name}`),
            more,
          ),
        ),
      );
    set();
    for (const name of names) site.pages.set(name, tagged("text/html", html(name, "one"), 1));
    const source = open();
    for (const path of await pathsOf(source)) await source.read({ path }, crawling);
    site.requests.length = 0;
    const stop = new AbortController();
    const changes = (await source.watch!({ ...call, signal: stop.signal }))[Symbol.asyncIterator]();
    site.pages.set("b", tagged("text/html", html("b", "two"), 2));
    expect((await changes.next()).value).toEqual({ kind: "changed", path: `${site.host}/b` });
    names.pop();
    set();
    expect((await changes.next()).value).toEqual({ kind: "gone", path: `${site.host}/c` });
    stop.abort();
    expect(pageRequests().filter(({ status }) => status === 200)).toHaveLength(1);
    expect(pageRequests().filter(({ status }) => status === 304).length).toBeGreaterThan(0);
    expect(
      site.requests.filter(({ path, status }) => path === "/sitemap.xml" && status === 304).length,
    ).toBeGreaterThan(0);
  });

  it("is not requested page by page if its sitemap says that nothing changed", async () => {
    const set = (time: string) => site.pages.set("sitemap.xml", urlSet(["/a"], `<lastmod>${time}</lastmod>`));
    set("2026-03-01T10:00:00+09:00");
    site.pages.set("a", "one");
    const source = open();
    const [entry] = (await source.list(asking(10), call)).items;
    expect(entry).toMatchObject({
      version: expect.any(String) as string,
      annotations: { lastModified: "2026-03-01T01:00:00.000Z" },
    });
    await source.read({ path: `${site.host}/a` }, call);
    const stop = new AbortController();
    const changes = (await source.watch!({ ...call, signal: stop.signal }))[Symbol.asyncIterator]();
    site.requests.length = 0;
    await expect.poll(() => site.requests.filter(({ path }) => path === "/sitemap.xml").length).toBeGreaterThan(3);
    expect(site.requests.filter(({ path }) => path === "/a")).toEqual([]);
    site.pages.set("a", "two");
    set("2026-03-02T10:00:00+09:00");
    expect((await changes.next()).value).toEqual({ kind: "changed", path: `${site.host}/a` });
    stop.abort();
    // A day without a time is a version only when it is over.
    set(new Date().toISOString().slice(0, 10));
    expect((await open().list(asking(10), call)).items[0]).not.toHaveProperty("version");
  });
});

describe("a site that was read before", () => {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-web-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const keeping: Runtime = { ...quiet, env: { XDG_CACHE_HOME: folder } };

  it("has its titles and versions after a start, and is requested only conditionally", async () => {
    site.pages.set("sitemap.xml", urlSet(["/a", "/b"]));
    for (const name of ["a", "b"]) site.pages.set(name, tagged("text/html", html(`題 ${name}`, "本文")));
    const first = open({ refreshMs: 3_600_000 }, keeping);
    const read = (await pathsOf(first)).map(async (path) => (await first.read({ path }, crawling))[0]?.version);
    const versions = await Promise.all(read);
    await first.close!();
    const [file = ""] = readdirSync(join(folder, "pressmark", "web"));
    expect(statSync(join(folder, "pressmark", "web", file)).mode & 0o777).toBe(0o600);
    site.requests.length = 0;

    const second = open({ refreshMs: 3_600_000 }, keeping);
    const { items } = await second.list(asking(10), crawling);
    expect(items.map(({ title, version }) => [title, version])).toEqual([
      ["題 a", versions[0]],
      ["題 b", versions[1]],
    ]);
    expect(pageRequests()).toEqual([]);
    // Long ago: the index gets versions only after the site said that nothing changed.
    site.pages.set("b", tagged("text/html", html("題 c", "本文、改")));
    const later = { ...keeping, now: () => keeping.now() + 7_200_000 };
    const third = open({ refreshMs: 3_600_000 }, later);
    expect((await third.list(asking(10), call)).items.map(({ version }) => version)).toEqual([undefined, undefined]);
    const checked = (await third.list(asking(10), crawling)).items;
    expect(checked.map(({ title }) => title)).toEqual(["題 a", "題 c"]);
    expect(checked.map(({ version }) => version === versions[0])).toEqual([true, false]);
    expect(
      pageRequests()
        .map(({ path, status }) => [path, status])
        .sort(),
    ).toEqual([
      ["/a", 304],
      ["/b", 200],
    ]);
    await Promise.all([second, third].map((each) => each.close!()));

    for (const text of [
      "",
      "{",
      "[]",
      '{"pages":[{"at":{"path":"x"},"href":"y","checkedMs":1,"validators":{"a":1}}, null, 7]}',
    ]) {
      writeFileSync(join(folder, "pressmark", "web", file), text);
      expect((await open({}, keeping).list(asking(10), call)).items.map(({ title }) => title)).toEqual([
        undefined,
        undefined,
      ]);
    }
  });
});

it("what was remembered with the headers of a host is not shown without them", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-web-"));
  const keeping: Runtime = { ...quiet, env: { XDG_CACHE_HOME: folder } };
  site.pages.set("sitemap.xml", urlSet(["/a"]));
  site.pages.set("a", answering(200, { "Content-Type": "text/html" }, html("秘密", "本文")));
  const titleWith = async (token?: string, isRead = false) => {
    const hosts = token === undefined ? [] : [{ host: site.origin, headers: { Authorization: token } }];
    const source = open({ hosts, refreshMs: 3_600_000 }, keeping);
    const [entry] = (await source.list(asking(10), call)).items;
    if (isRead) await source.read({ path: `${site.host}/a` }, call);
    await source.close!();
    return entry?.title;
  };
  await titleWith("Bearer 9f8e7d6c", true);
  expect(await titleWith("Bearer 9f8e7d6c")).toBe("秘密");
  expect([await titleWith("Bearer 00000000"), await titleWith()]).toEqual([undefined, undefined]);
  expect(readdirSync(join(folder, "pressmark", "web")).join()).not.toContain("9f8e7d6c");
  rmSync(folder, { recursive: true, force: true });
});

describe("the headers of a host", () => {
  const secret = "Bearer 9f8e7d6c5b4a39281706";
  const headers = { Authorization: secret };

  it("are sent to that host only, also for robots.txt and sitemaps, and never after a redirect", async () => {
    site.pages.set("sitemap.xml", urlSet(["/a", `${other.origin}/b`]));
    for (const name of ["a", "b"]) {
      site.pages.set(name, name);
      other.pages.set(name, name);
    }
    site.pages.set("away", answering(302, { Location: `${other.origin}/b` }));
    const source = open({ hosts: [{ host: site.origin, headers }, other.origin] });
    for (const path of [...(await pathsOf(source)), ...under(["away"])]) await source.read({ path }, call);
    expect(new Set(site.requests.map((request) => request.headers.authorization))).toEqual(new Set([secret]));
    expect(site.requests.map(({ path }) => path)).toEqual(
      expect.arrayContaining(["/robots.txt", "/sitemap.xml", "/a"]),
    );
    expect(other.requests.map(({ path }) => path)).toContain("/b");
    expect(new Set(other.requests.map((request) => request.headers.authorization))).toEqual(new Set([undefined]));
  });

  it("are in no error and no log", async () => {
    const logged: string[] = [];
    const runtime = { ...quiet, log: (...facts: unknown[]) => void logged.push(JSON.stringify(facts)) };
    const source = open({ hosts: [{ host: site.origin, headers }], timeoutMs: 200 }, runtime);
    site.pages.set("cut", (_, response) => response.destroy());
    for (const path of under(["cut", "missing"])) {
      const cause = await source.read({ path }, call).catch((each: unknown) => each as Error);
      expect(`${String(cause)} ${JSON.stringify(cause)}`).not.toContain("9f8e7d6c");
    }
    await source.list(asking(10), call).catch(() => undefined);
    expect(logged.join()).not.toContain("9f8e7d6c");
  });

  it.each([
    [{ host: "*.example.com", headers }, /without a wildcard/],
    [
      { host: "a.example", headers: { Authorization: "Bearer 9f8e\n7d6c" } },
      /a name or value that HTTP does not allow$/,
    ],
    [{ host: "a.example", headers: { "a b": "9f8e7d6c" } }, /a name or value that HTTP does not allow$/],
    [{ host: "a.example", headers: { Host: "9f8e7d6c" } }, /cannot be configured$/],
  ])("are checked: %j", (host, message) => {
    expect(() => open({ hosts: [host] })).toThrow(message);
  });
});
