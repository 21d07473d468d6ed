import { describe, expect, it, vi } from "vitest";
import { openPolicy } from "../access/policy.ts";
import { notFound } from "../errors.ts";
import { createResources } from "../router/create-resources.ts";
import type { Source } from "../source.ts";
import { createApp } from "../server/create-app.ts";
import { createRuntime } from "../server/runtime.ts";
import { sourceContract } from "../testing/source-contract.ts";
import { defineResources, type DefinedResources } from "./define-resources.ts";
import { template } from "./template.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };
const cities = ["Kobe", "Kyoto"];
const forecast = template("forecast/{city}{?days}", {
  mimeType: "text/markdown",
  complete: { city: (value) => cities.filter((city) => city.startsWith(value)) },
  read: ({ city, days = "1" }) => (cities.includes(city) ? `${city}, ${days}` : undefined),
});
const textAt = async (source: Source, path: string) => {
  const [part] = await source.read({ path }, call);
  return part && "text" in part.body ? part.body.text : "";
};

let opened: DefinedResources;
const hooks = {
  write: (path: string, text: string) => opened.set(path, text),
  remove: (path: string) => void opened.delete(path),
  async rename(from: string, to: string) {
    const text = await textAt(opened, from);
    opened.delete(from);
    opened.set(to, text);
  },
};

sourceContract("defineResources", {
  abilities: ["stat", "children", "templates", "complete", "search", "watch"],
  async open(content) {
    opened = defineResources({ texts: content as Record<string, string>, templates: [forecast] });
    return opened;
  },
  ...hooks,
  expansions: [
    { at: { path: "forecast/Kyoto" }, text: "Kyoto, 1" },
    { at: { path: "forecast/Kyoto", query: { days: "3" } }, text: "Kyoto, 3" },
  ],
  completions: [{ template: forecast.template, variable: "city", value: "Ky", expected: "Kyoto" }],
});

sourceContract("defineResources with functions", {
  abilities: ["stat", "children", "watch"],
  async open(content) {
    const texts = Object.entries(content as Record<string, string>).map(([path, text]) => [path, () => text] as const);
    opened = defineResources({ texts: Object.fromEntries(texts) });
    return opened;
  },
  ...hooks,
});

describe("texts", () => {
  it("are texts, bytes, JSON or functions, with the type of their name", async () => {
    const source = defineResources({
      texts: {
        "about.md": "# About",
        "icon.png": new Uint8Array([1]),
        "list.json": { json: [1, 2], title: "List" },
        now: { read: async () => ({ json: { at: 1 } }), title: "Now", mimeType: "application/json" },
        "feed.json": () => "[]",
        table: () => ({ text: "a,b", mimeType: "text/csv" }),
      },
    });
    const { items } = await source.list({ limit: 10 }, call);
    expect(items.map(({ path, mimeType, title, size }) => [path, mimeType, title, size])).toEqual([
      ["about.md", "text/markdown", undefined, 7],
      ["feed.json", "application/json", undefined, undefined],
      ["icon.png", "image/png", undefined, 1],
      ["list.json", "application/json", "List", 12],
      ["now", "application/json", "Now", undefined],
      ["table", "text/plain", undefined, undefined],
    ]);
    expect(await source.read({ path: "list.json" }, call)).toEqual([
      { body: { text: "[\n  1,\n  2\n]" }, mimeType: "application/json" },
    ]);
    expect(await source.read({ path: "now" }, call)).toEqual([
      { body: { text: '{\n  "at": 1\n}' }, mimeType: "application/json" },
    ]);
    expect(await source.read({ path: "feed.json" }, call)).toEqual([
      { body: { text: "[]" }, mimeType: "application/json" },
    ]);
    expect(await source.read({ path: "table" }, call)).toEqual([{ body: { text: "a,b" }, mimeType: "text/csv" }]);
  });

  it("are refused if they cannot be served", () => {
    expect(() => defineResources({ texts: { "/a": "x" } })).toThrow("not a valid path");
    expect(() => defineResources({ texts: { a: { json: undefined } } })).toThrow('the "json" of "a" is undefined');
    expect(() => defineResources({ texts: { a: { json: 1n } } })).toThrow('the "json" of "a" cannot be written');
    expect(() => defineResources({ templates: [forecast, forecast] })).toThrow("is defined twice");
  });
});

/** Every function throws. */
function failing(cause: unknown): DefinedResources {
  const fail = () => {
    throw cause;
  };
  return defineResources({
    texts: { broken: fail },
    templates: [template("t/{x}", { complete: { x: fail }, read: fail })],
  });
}

describe("a function", () => {
  it('that returns undefined makes "not-found"', async () => {
    const source = defineResources({ texts: { gone: () => undefined }, templates: [forecast] });
    for (const path of ["gone", "forecast/Atlantis"])
      await expect(source.read({ path }, call), path).rejects.toMatchObject({ kind: "not-found" });
  });

  it("that throws a ResourceError chooses the answer itself", async () => {
    const cause = notFound("elsewhere");
    for (const path of ["broken", "t/1"]) await expect(failing(cause).read({ path }, call)).rejects.toBe(cause);
  });

  it("that throws anything else is named, and its message stays in the log", async () => {
    const source = failing(new Error("password=hunter2"));
    const unexpected = { kind: "unexpected", cause: { message: "password=hunter2" } };
    await expect(source.read({ path: "broken" }, call)).rejects.toMatchObject({
      ...unexpected,
      message: `the function of "broken" failed; the server's log has the cause`,
    });
    await expect(source.read({ path: "t/1" }, call)).rejects.toMatchObject({
      ...unexpected,
      message: `the template "t/{x}" failed; the server's log has the cause`,
    });
    const [{ template: text = "", name = "" } = {}] = source.templates ?? [];
    await expect(
      source.complete?.({ template: { template: text, name }, variable: "x", value: "", given: {} }, call),
    ).rejects.toMatchObject({ ...unexpected, message: expect.stringContaining('completing "x" of the template') });
  });

  it("that returns what JSON does not know is a fault of the program", async () => {
    const source = defineResources({ texts: { big: () => ({ json: 1n }) } });
    await expect(source.read({ path: "big" }, call)).rejects.toMatchObject({ kind: "unexpected" });
  });

  it("that takes too long is unavailable, and one that the caller cancels is cancelled", async () => {
    const late = failing(new DOMException("late", "TimeoutError"));
    await expect(late.read({ path: "broken" }, call)).rejects.toMatchObject({ kind: "unavailable", passing: true });
    const stop = new AbortController();
    const waiting = defineResources({
      texts: {
        slow: ({ signal }) =>
          new Promise((_, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason));
          }),
      },
    });
    const read = waiting.read({ path: "slow" }, { ...call, signal: stop.signal });
    stop.abort();
    await expect(read).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("search", () => {
  it.each([
    ["texts", { "a.md": "the needle" }],
    ["what functions return", { "a.md": () => "the needle", b: "hay" }],
  ])("of a served program finds %s", async (_, texts) => {
    const { resources, close } = await createApp({ name: "w", mounts: { w: defineResources({ texts }) } });
    await vi.waitFor(async () => {
      const { hits, ready } = await resources.search({ text: "needle", limit: 10 }, call);
      expect({ ready, uris: hits.map(({ resource }) => resource.uri) }).toEqual({ ready: 1, uris: ["w://a.md"] });
    }, 20_000);
    await close();
  });
});

describe("changes", () => {
  it("reach subscribers of texts, functions and templates", async () => {
    let count = 0;
    const source = defineResources({ texts: { "a.md": "1", count: () => `${count}` }, templates: [forecast] });
    const resources = createResources({
      mounts: [{ name: "w", base: "w://", source }],
      policy: openPolicy,
      runtime: createRuntime({ write: () => true }),
      cursorKey: new Uint8Array(32),
    });
    const uris = ["w://a.md", "w://count", "w://forecast/Kyoto?days=3"];
    const stop = new AbortController();
    const watch = await resources.watch({ uris }, { ...call, signal: stop.signal });
    expect(watch.uris).toEqual(uris);
    count += 1;
    source.changed("count");
    source.changed(forecast.at({ city: "Kyoto" }));
    source.set("a.md", "2");
    const heard = new Set<string>();
    for await (const change of watch) {
      if (change.kind === "updated") heard.add(change.uri);
      if (heard.size === uris.length) stop.abort();
    }
    expect([...heard].sort()).toEqual(uris);
    await resources.close();
  });

  it("of an address that does not exist are a fault of the program", () => {
    const source = defineResources({ texts: { "a.md": "1" }, templates: [forecast] });
    expect(() => source.changed("b.md")).toThrow('"b.md" is no text and matches no template');
    expect(() => source.changed("forecast/Kyoto?days=1")).toThrow("use `at` of the template");
    expect(() => source.changed({ path: "forecast/Kyoto", query: { unit: "C" } })).toThrow("matches no template");
    expect(() => source.changed("weather://a.md")).toThrow("write its path alone");
    source.set("why?", "1");
    source.changed("why?");
  });
});
