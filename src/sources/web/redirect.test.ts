/** A redirect shows nobody a page that the access rules hide from them. */
import { afterAll, beforeEach, expect, it } from "vitest";
import { createRulesPolicy } from "../../access/rules.ts";
import { withStandardLayers } from "../../layers/standard.ts";
import type { Call } from "../../resources.ts";
import { createResources } from "../../router/create-resources.ts";
import { createRuntime } from "../../server/runtime.ts";
import { createWeb } from "../web.ts";
import { answering, startTestWebServer, tagged } from "./test-web-server.ts";

const runtime = { ...createRuntime({ write: () => true }), env: { XDG_CACHE_HOME: "/dev/null" } };
const front = await startTestWebServer();
const inner = await startTestWebServer();
afterAll(() => [front, inner].map((each) => each.close()));
beforeEach(() => [front, inner].map((each) => each.clear()));

const as = (id: string): Call => ({ caller: { id }, signal: new AbortController().signal });
const [aki, bot] = [as("aki"), as("bot")];
const redirect = (path: string) => answering(302, { Location: `${inner.origin}/${path}` });
const secret = tagged("text/html", "<title>買収計画</title><main><h1>買収計画</h1><p>SECRET</p></main>");

/** Only aki may see the inner host, which wants a header. */
function open(pages: readonly string[] = []) {
  const web = createWeb(
    {
      hosts: [front.origin, { host: inner.origin, headers: { Authorization: "Bearer 9f8e7d6c" } }],
      sites: [],
      maxPages: 500,
      refreshMs: 60_000,
      pages: pages.map((path) => `${front.origin}/${path}`),
      direct: false,
      robots: false,
      allowAddresses: ["127.0.0.1"],
      maxBytes: 100_000,
      timeoutMs: 5000,
      pollMs: 60_000,
    },
    runtime,
    () => Promise.reject(new Error("no name is resolved here")),
  );
  const source = withStandardLayers(web, { name: "web" }, runtime);
  const policy = createRulesPolicy([
    { allow: ["caller:bot"], mounts: ["web"] },
    { deny: ["caller:bot"], mounts: ["web"], paths: [inner.host, `${inner.host}/**`] },
    { allow: ["caller:aki"] },
  ]);
  const mounts = [{ name: "web", base: "web://", source }];
  return createResources({ mounts, policy, runtime, cursorKey: new Uint8Array(32) });
}

it.each(["private", "private?a=1&a=2", "%E7%A7%98/b", ""])(
  "by read and stat, also if unchanged: /%s",
  async (target) => {
    inner.pages.set(decodeURIComponent(target), secret);
    front.pages.set("go", redirect(target));
    const resources = open();
    const uri = `web://${front.host}/go`;
    for (let times = 0; times < 2; times += 1) {
      expect(await resources.read(uri, aki)).toMatchObject({
        contents: [{ body: { text: "# 買収計画\n\nSECRET\n" } }],
      });
      expect(await resources.stat(uri, aki)).toMatchObject({ title: "買収計画" });
      await expect(resources.read(uri, bot)).rejects.toMatchObject({ kind: "not-found" });
      await expect(resources.stat(uri, bot)).rejects.toMatchObject({ kind: "not-found" });
    }
    expect(inner.requests.map(({ status }) => status)).toContain(304);
  },
);

it("by the list, once the title comes from the other page", async () => {
  inner.pages.set("private", secret);
  front.pages.set("go", redirect("private"));
  front.pages.set("open", "open");
  const resources = open(["go", "open"]);
  const titles = async (call: Call) => (await resources.list({}, call)).items.map(({ title }) => title);
  expect(await titles(aki)).toEqual(["買収計画", `${front.host}/open`]);
  expect(await titles(bot)).toEqual([`${front.host}/open`]);
  await expect(resources.stat(`web://${front.host}/go`, bot)).rejects.toMatchObject({ kind: "not-found" });
});

it("to a URL that no rule can name is refused, and the URL is not in the error", async () => {
  inner.pages.set("a\0b", secret);
  front.pages.set("go", redirect("a%00b"));
  const failure = await open()
    .read(`web://${front.host}/go`, aki)
    .catch((cause: unknown) => cause as Error);
  expect(failure).toMatchObject({ kind: "not-found" });
  expect(String(failure)).not.toContain(inner.host);
});

it("to another spelling of the same page changes nothing", async () => {
  let isFirst = true;
  front.pages.set("go", (request, response) => {
    if (isFirst) answering(302, { Location: "/g%6f#here" })(request, response);
    else response.writeHead(200, { "Content-Type": "text/plain" }).end("same");
    isFirst = false;
  });
  expect(await open().read(`web://${front.host}/go`, bot)).toMatchObject({ contents: [{ body: { text: "same" } }] });
});
