/** The same questions through gateways that others built, and through ours: what of the servers behind is left at the end. */
import { afterEach, describe, expect, it } from "vitest";
import { connect, type RemoteServer } from "../../src/client/connect.ts";
import { walkPages } from "../../src/client/walk-pages.ts";
import { toResourceError } from "../../src/errors.ts";
import { parseTemplate } from "../../src/lib/uri-template.ts";
import type { Call, Page, PageRequest } from "../../src/resources.ts";
import { collectChanges } from "../../src/testing/listen.ts";
import {
  type Gateway,
  greetingOf,
  kinds,
  noteOf,
  notesOf,
  openMcpHub,
  openMcpProxy,
  openOurs,
  openUpstream,
  type Person,
  secretOf,
  type Upstream,
} from "./gateways.ts";

const open: AsyncDisposable[] = [];
let stop = new AbortController();
afterEach(async () => {
  stop.abort();
  stop = new AbortController();
  for (const each of open.splice(0).toReversed()) await each[Symbol.asyncDispose]();
});

function kept<T extends AsyncDisposable>(opened: T): T {
  open.push(opened);
  return opened;
}

const call = (): Call => ({ caller: { id: "test" }, signal: stop.signal });

async function enter(gateway: Gateway, person: Person = "owner"): Promise<RemoteServer> {
  const pressmark = await connect(gateway.url, { headers: gateway.headersOf(person) });
  kept({ [Symbol.asyncDispose]: () => pressmark.close() });
  return pressmark;
}

async function all<T>(page: (ask: PageRequest, call: Call) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of walkPages((ask) => page(ask, call()))) items.push(item);
  return items;
}

/** What is read there, or how it is refused. */
async function textAt(pressmark: RemoteServer, uri: string): Promise<string> {
  try {
    const [content] = (await pressmark.read(uri, call())).contents;
    return content && "text" in content.body ? content.body.text : "no text";
  } catch (cause) {
    return toResourceError(cause).kind;
  }
}

/** The text of everything that is listed to this person. */
async function listed(gateway: Gateway, person?: Person): Promise<string[]> {
  const pressmark = await enter(gateway, person);
  const texts: string[] = [];
  for (const { uri } of await all(pressmark.list)) texts.push(await textAt(pressmark, uri));
  return texts.sort();
}

/** What each listed template gives for Mars. */
async function expanded(gateway: Gateway): Promise<string[]> {
  const pressmark = await enter(gateway);
  const texts: string[] = [];
  for (const { uriTemplate } of await all(pressmark.templates))
    texts.push(await textAt(pressmark, parseTemplate(uriTemplate).expand({ planet: "mars" })));
  return texts.sort();
}

/** What each listed template offers for an m. */
async function completed(gateway: Gateway): Promise<(readonly string[])[]> {
  const pressmark = await enter(gateway);
  const found: (readonly string[])[] = [];
  for (const { uriTemplate: template } of await all(pressmark.templates))
    found.push((await pressmark.complete({ template, variable: "planet", value: "m", given: {} }, call())).values);
  return found;
}

/** What a first note says after its change was told under the URI that it was listed with; or that changes are not told. */
async function heard(gateway: Gateway, { name, change }: Upstream): Promise<string> {
  const pressmark = await enter(gateway);
  for (const { uri } of await all(pressmark.list)) {
    if ((await textAt(pressmark, uri)) !== noteOf(name, 1)) continue;
    try {
      const { until } = collectChanges(await pressmark.watch({ uris: [uri] }, call()));
      change();
      await until((told) => told.kind === "updated" && told.uri === uri, "that the note changed");
      return await textAt(pressmark, uri);
    } catch (cause) {
      return toResourceError(cause).kind;
    }
  }
  return "not listed";
}

const behind = async () => [kept(await openUpstream("east")), kept(await openUpstream("west"))] as const;
const names = ["east", "west"] as const;
const secrets = names.map(secretOf);
const everyNote = names.flatMap(notesOf);
const marsOf = (name: string, of: readonly string[] = kinds) => of.map((kind) => greetingOf(name, kind, "mars"));

/** All that begins so. */
const m = ["mars", "mercury"];

async function ours() {
  const upstreams = await behind();
  return { upstreams, gateway: kept(await openOurs(upstreams)) };
}

async function hub() {
  const upstreams = await behind();
  return { upstreams, gateway: kept(await openMcpHub(upstreams)) };
}

async function proxy() {
  const upstream = kept(await openUpstream("east"));
  return { upstream, gateway: kept(await openMcpProxy(upstream)) };
}

describe("two servers behind our gateway", () => {
  it("are listed to the last page", async () => {
    expect(await listed((await ours()).gateway)).toEqual([...everyNote, ...secrets].sort());
  });

  it("are read through their templates", async () => {
    expect(await expanded((await ours()).gateway)).toEqual(names.flatMap((name) => marsOf(name)).sort());
  });

  it("complete their templates", async () => {
    expect(await completed((await ours()).gateway)).toEqual([m, m, m, m]);
  });

  it("are heard when something changes", async () => {
    const { gateway, upstreams } = await ours();
    expect(await heard(gateway, upstreams[1])).toBe(`${noteOf("west", 1)}, changed`);
  });

  it("show each person what they may see", async () => {
    const { gateway } = await ours();
    expect(await listed(gateway, "reader")).toEqual([...everyNote].sort());
    const reader = await enter(gateway, "reader");
    for (const { uri } of (await all((await enter(gateway)).list)).filter((each) => each.uri.includes("secrets")))
      expect(await textAt(reader, uri)).toBe("not-found");
  });
});

describe("two servers behind mcp-hub", () => {
  it("are listed to their first page", async () => {
    expect(await listed((await hub()).gateway)).toEqual(
      [...names.flatMap((name) => notesOf(name).slice(0, 2)), ...secrets].sort(),
    );
  });

  it("are read through the templates of their first page", async () => {
    expect(await expanded((await hub()).gateway)).toEqual(names.flatMap((name) => marsOf(name, ["moons"])));
  });

  it("complete nothing", async () => {
    expect(await completed((await hub()).gateway)).toEqual([[], []]);
  });

  it("are not heard when something changes", async () => {
    const { gateway, upstreams } = await hub();
    expect(await heard(gateway, upstreams[1])).toBe("unsupported");
  });

  it("show everyone the same", async () => {
    expect(await listed((await hub()).gateway, "reader")).toEqual(expect.arrayContaining(secrets));
  });
});

describe("one server behind mcp-proxy, which takes no second one", () => {
  it("is listed to the last page", async () => {
    expect(await listed((await proxy()).gateway)).toEqual([...notesOf("east"), secretOf("east")].sort());
  });

  it("is read and completed through its templates", async () => {
    const { gateway } = await proxy();
    expect(await expanded(gateway)).toEqual(marsOf("east"));
    expect(await completed(gateway)).toEqual([m, m]);
  });

  it("is heard when something changes", async () => {
    const { gateway, upstream } = await proxy();
    expect(await heard(gateway, upstream)).toBe(`${noteOf("east", 1)}, changed`);
  });

  it("shows everyone who is let in the same", async () => {
    expect(await listed((await proxy()).gateway, "reader")).toContain(secretOf("east"));
  });
});
