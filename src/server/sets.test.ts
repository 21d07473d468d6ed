import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { notFound, ResourceError } from "../errors.ts";
import { openPolicy } from "../access/policy.ts";
import { createMemory, type Memory } from "../sources/memory.ts";
import { collectChanges } from "../testing/listen.ts";
import { refusal } from "../testing/refusal.ts";
import { resourcesContract } from "../testing/resources-contract.ts";
import { createSets } from "./sets.ts";
import { createSavedSets } from "./sets/saved-sets.ts";
import { base, callOf, createResourcesWithSets, createSetServer, discreet, type SetServer } from "./sets/test-sets.ts";
import { createRuntime } from "./runtime.ts";

const sampleContents = {
  "readme.md": { text: "# Read me\n", mimeType: "text/markdown" },
  "guide.md": { text: "# Guide\n", mimeType: "text/markdown" },
  "logo.png": { bytes: Uint8Array.of(1, 2, 3), mimeType: "image/png" },
  "docs/a.txt": "a",
  "secrets/key.txt": "hidden",
};
const at = (...paths: readonly string[]) => paths.map((path) => base + path);
const onboarding = {
  name: "onboarding",
  title: "On boarding",
  description: "What to read first",
  resources: at("readme.md", "logo.png", "missing.md", "secrets/key.txt", "readme.md"),
};
const boss = { name: "boss", resources: at("guide.md") };
const secret = { name: "secret", resources: at("secrets/key.txt", "nowhere") };
const call = callOf("reader");
const owner = callOf("owner");
const uris = (items: readonly { readonly uri: string }[]) => items.map(({ uri }) => uri);

function open(more: Partial<Parameters<typeof createSetServer>[0]> = {}): SetServer {
  return createSetServer({ sampleContents, policy: discreet, sets: [onboarding, boss, secret], ...more });
}

describe("a set", () => {
  it("is read as its index and the contents of all that is in it, under their own URIs", async () => {
    await using pressmark = open();
    const { contents, scope } = await pressmark.resources.read("set://onboarding", call);
    expect(uris(contents)).toEqual(["set://onboarding", ...at("readme.md", "logo.png")]);
    expect(contents[1]?.body).toEqual({ text: "# Read me\n" });
    expect(contents[2]?.body).toEqual({ bytes: Uint8Array.of(1, 2, 3) });
    expect(scope).toBe("private");
    const [index] = contents;
    expect(JSON.parse(index && "text" in index.body ? index.body.text : "")).toEqual({
      name: "onboarding",
      title: "On boarding",
      description: "What to read first",
      resources: [
        { uri: `${base}readme.md`, name: "readme.md", title: "readme.md", mimeType: "text/markdown", size: 10 },
        { uri: `${base}logo.png`, name: "logo.png", title: "logo.png", mimeType: "image/png", size: 3 },
      ],
    });
  });

  it("is listed before everything else, and is a child of set://", async () => {
    await using pressmark = open();
    const listed = await pressmark.resources.list({}, owner);
    expect(uris(listed.items).slice(0, 3)).toEqual(["set://boss", "set://onboarding", "set://secret"]);
    expect(uris(listed.items)).toContain(`${base}guide.md`);
    expect(uris((await pressmark.resources.children("set://", {}, owner)).items)).toEqual([
      "set://boss",
      "set://onboarding",
      "set://secret",
    ]);
    expect((await pressmark.resources.stat("set://onboarding", owner)).title).toBe("On boarding");
    await refusal(pressmark.resources.children("set://onboarding", {}, owner), ["not-found"], "no directory");
  });

  it("holds for each caller what they may see, and is not there where that is nothing", async () => {
    await using pressmark = open();
    const listed = uris((await pressmark.resources.list({}, call)).items);
    expect(listed.filter((uri) => uri.startsWith("set:"))).toEqual(["set://onboarding"]);
    for (const name of ["secret", "boss", "none", "%73ecret", "secret?x=1", "secret/x", "..", "a%2Fb"]) {
      const uri = `set://${name}`;
      const error = await pressmark.resources.read(uri, call).catch((cause: unknown) => cause);
      expect(error).toBeInstanceOf(ResourceError);
      expect((error as ResourceError).message).toBe(notFound(uri).message);
      await refusal(pressmark.resources.stat(uri, call), ["not-found"], uri);
    }
    const { contents } = await pressmark.resources.read("set://onboarding", owner);
    expect(uris(contents)).toContain(`${base}secrets/key.txt`);
    expect(await pressmark.sets.resolveSet("onboarding", call)).toEqual(at("readme.md", "logo.png"));
    await refusal(pressmark.sets.resolveSet("secret", call), ["not-found"], "secret");
  });

  it("has its name in every encoding of its URI, in any script", async () => {
    const 手順 = { name: "手順.v2", resources: at("readme.md") };
    await using pressmark = open({ sets: [手順] });
    const [first] = (await pressmark.resources.list({}, call)).items;
    expect(first?.uri).toBe(`set://${encodeURIComponent(手順.name)}`);
    for (const uri of [first!.uri, "SET://手順.v2", "set://%E6%89%8B順%2Ev2"]) {
      const { contents } = await pressmark.resources.read(uri, call);
      expect(contents[0]?.uri).toBe(uri);
    }
  });

  it("names what is too large for it instead of giving it", async () => {
    await using pressmark = open({
      sampleContents: { ...sampleContents, "big.txt": "x".repeat(3_000_000), "huge.txt": "y".repeat(2_000_000) },
      sets: [{ name: "big", resources: at("big.txt", "huge.txt", "guide.md") }],
    });
    const { contents } = await pressmark.resources.read("set://big", call);
    expect(uris(contents)).toEqual(["set://big", ...at("big.txt", "guide.md")]);
    const [index] = contents;
    expect(JSON.parse(index && "text" in index.body ? index.body.text : "{}")).toMatchObject({
      resources: [{}, { uri: `${base}huge.txt`, leftOut: "too-large" }, {}],
    });
  });

  it("gives way to a mount that has taken its scheme", async () => {
    await using pressmark = open({ scheme: "set" });
    const { contents } = await pressmark.resources.read("set://onboarding", call);
    expect(contents.map(({ body }) => body)).toEqual([{ text: "mine" }]);
    expect(uris((await pressmark.resources.list({}, call)).items).filter((uri) => uri.startsWith("set:"))).toEqual([
      "set://onboarding",
    ]);
  });

  it("whose backend is unreachable still exists, and reports the failure", async () => {
    const away = new ResourceError("unavailable", "away");
    const sets = createSets({
      resources: { stat: () => Promise.reject(away) },
      policy: openPolicy,
      configured: () => [boss],
      store: createSavedSets("/nowhere", {}, createRuntime({ write: () => true })),
    });
    expect(await sets.list(call)).toMatchObject([{ name: "boss" }]);
    expect((await sets.find("boss", call))?.members).toEqual([{ uri: `${base}guide.md`, failure: away }]);
  });
});

describe("a watch on a set", () => {
  it("reports changed, new and removed members, and nothing else", async () => {
    await using pressmark = open();
    const stop = new AbortController();
    const watch = await pressmark.resources.watch(
      { uris: ["set://onboarding", "set://secret"] },
      callOf("reader", stop.signal),
    );
    expect(watch.uris).toEqual(["set://onboarding"]);
    const heard = collectChanges(watch);
    const next = () => {
      const count = heard.heard.length;
      return () => heard.until(() => heard.heard.length > count, "a change");
    };
    const steps = [
      () => pressmark.memory.set("readme.md", "other"),
      () => pressmark.memory.set("missing.md", "here now"),
      () => pressmark.memory.set("missing.md", "here and other"),
      () => void pressmark.memory.delete("logo.png"),
      () => pressmark.configure([{ ...onboarding, title: "Another" }]),
      () => pressmark.configure([]),
      () => pressmark.configure([onboarding]),
    ];
    for (const step of steps) {
      const changed = next();
      step();
      await changed();
    }
    expect(new Set(heard.heard.map((change) => (change.kind === "updated" ? change.uri : change.kind)))).toEqual(
      new Set(["set://onboarding"]),
    );
    stop.abort();
    await heard.ended;
  });

  it("does not reveal members that the caller may not see", async () => {
    await using pressmark = open();
    const stop = new AbortController();
    const filter = { uris: ["set://onboarding", "set://", `${base}guide.md`], list: true };
    const heard = collectChanges(await pressmark.resources.watch(filter, callOf("reader", stop.signal)));
    pressmark.memory.set("secrets/key.txt", "another secret");
    pressmark.configure([
      { ...onboarding, resources: [...onboarding.resources, `${base}secrets/other`] },
      boss,
      secret,
    ]);
    pressmark.configure([
      onboarding,
      boss,
      { ...secret, title: "New" },
      { name: "more", resources: at("secrets/key.txt") },
    ]);
    // Nothing before was reported: this is the first event.
    pressmark.memory.set("guide.md", "changed");
    await heard.until((change) => change.kind === "updated" && change.uri === `${base}guide.md`, "the guide");
    expect(heard.heard).toEqual([{ kind: "updated", uri: `${base}guide.md` }]);
    stop.abort();
  });

  it("is reported when added or removed, through set:// and through the list", async () => {
    await using pressmark = open();
    const stop = new AbortController();
    const heard = collectChanges(
      await pressmark.resources.watch({ uris: ["set://"], list: true }, callOf("reader", stop.signal)),
    );
    pressmark.configure([onboarding, { name: "new", resources: at("guide.md") }]);
    await heard.until((change) => change.kind === "updated" && change.uri === "set://", "set://");
    await heard.until((change) => change.kind === "list-changed", "the list");
    stop.abort();
    await heard.ended;
  });
});

describe("zed://prompt-library", () => {
  it("lists the sets that the caller may know of, where it is configured", async () => {
    await using pressmark = open({ zed: true });
    const { contents } = await pressmark.resources.read("zed://prompt-library", call);
    expect(contents).toEqual([
      {
        uri: "zed://prompt-library",
        mimeType: "application/json",
        body: { text: '[{"id":"onboarding","title":"On boarding","uri":"set://onboarding"}]' },
      },
    ]);
    expect(uris((await pressmark.resources.list({}, call)).items)).toContain("zed://prompt-library");
  });

  it("is not there where it is not", async () => {
    await using pressmark = open();
    await refusal(pressmark.resources.read("zed://prompt-library", call), ["not-found"], "zed");
    expect(uris((await pressmark.resources.list({}, call)).items)).not.toContain("zed://prompt-library");
  });
});

describe("saved sets", () => {
  it("outlive the server, and are visible only to the caller who saved them", async () => {
    await using first = open();
    await first.sets.save({ name: "mine", resources: at("guide.md") }, call);
    expect((await first.sets.list(call)).map(({ name }) => name)).toEqual(["mine", "onboarding"]);
    await using second = open({ stateFolder: first.stateFolder });
    expect((await second.sets.list(call)).map(({ name }) => name)).toEqual(["mine", "onboarding"]);
    expect((await second.sets.list(callOf("other"))).map(({ name }) => name)).toEqual(["onboarding"]);
    await refusal(second.resources.read("set://mine", callOf("other")), ["not-found"], "mine");
  });

  it("that another process saves are noticed by a live server", async () => {
    await using before = open();
    await before.sets.save({ name: "older", resources: at("guide.md") }, call);
    await using here = open({ live: true, stateFolder: before.stateFolder });
    const stop = new AbortController();
    const heard = collectChanges(await here.resources.watch({ list: true }, callOf("reader", stop.signal)));
    await using there = open({ stateFolder: before.stateFolder });
    await there.sets.save({ name: "mine", resources: at("guide.md") }, call);
    await heard.until((change) => change.kind === "list-changed", "the list");
    expect((await here.sets.list(call)).map(({ name }) => name)).toContain("mine");
    stop.abort();
  });

  it("that someone tampered with are left out", async () => {
    await using pressmark = open();
    await pressmark.sets.save({ name: "mine", resources: at("guide.md") }, call);
    const { location: folder } = pressmark.sets.store;
    const written = readdirSync(folder).find((name) => name.endsWith(".json"))!;
    const forged = [
      "{",
      "[]",
      '{"name":"../x","resources":[]}',
      '{"name":"x","resources":["set://y"]}',
      '{"name":"x"}',
    ];
    for (const [index, text] of forged.entries())
      writeFileSync(join(folder, `${String(index).padStart(32, "0")}.json`), text);
    pressmark.sets.changed();
    expect((await pressmark.sets.list(call)).map(({ name }) => name)).toEqual(["mine", "onboarding"]);
    writeFileSync(join(folder, written), "x".repeat(2_000_000));
    pressmark.sets.changed();
    expect((await pressmark.sets.list(call)).map(({ name }) => name)).toEqual(["onboarding"]);
  });
});

let memory: Memory;
let pressmark: ReturnType<typeof createResourcesWithSets>;
const runtime = createRuntime({ write: () => true });
resourcesContract("a house with sets", {
  async open(content) {
    memory = createMemory(content as Record<string, string>);
    pressmark = createResourcesWithSets({
      mounts: [{ name: "m", base, source: memory.source }],
      policy: openPolicy,
      runtime,
      cursorKey: new Uint8Array(32),
      configured: () => ({
        sets: [{ name: "all", resources: at("readme.md", "docs") }],
        folder: "/",
        server: { zed: true },
      }),
    });
    return pressmark.resources;
  },
  uriOf: (path) => encodeURI(`${base}${path}`).replaceAll("#", "%23").replaceAll("?", "%3F"),
  write: (path, text) => memory.set(path, text),
  remove: (path) => void memory.delete(path),
  clear: () => pressmark.resources.close(),
  findable: { text: "needle-in-a-haystack", path: "docs/deep/er/c.txt" },
});
