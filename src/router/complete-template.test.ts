import { describe, expect, it } from "vitest";
import { openPolicy } from "../access/policy.ts";
import type { Policy } from "../access/policy.ts";
import { ResourceError } from "../errors.ts";
import type { Call } from "../resources.ts";
import type { SourceCompletionRequest, Source, SourceTemplate, Suggestion } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { createResources } from "./create-resources.ts";

const call: Call = { caller: { id: "me" }, signal: new AbortController().signal };

function open(sources: Readonly<Record<string, Source>>, policy: Policy = openPolicy) {
  const clock = createClock();
  const mounts = Object.entries(sources).map(([base, source]) => ({ name: base, base, source }));
  return {
    pressmark: createResources({ mounts, policy, runtime: clock.runtime, cursorKey: new Uint8Array(32) }),
    clock,
  };
}

function suggesting(
  templates: readonly SourceTemplate[],
  complete?: (ask: SourceCompletionRequest) => readonly Suggestion[],
): Source {
  return {
    list: async () => ({ items: [] }),
    async read({ path }) {
      if (path === "there") return [{ body: { text: "" } }];
      throw new ResourceError("not-found", "nothing");
    },
    templates,
    ...(complete && { complete: async (ask) => complete(ask) }),
  };
}

const failing = (templates: readonly SourceTemplate[], cause: Error): Source => ({
  ...suggesting(templates),
  complete: () => Promise.reject(cause),
});

const hiding = (...hidden: string[]): Policy => ({
  maySee: (_, __, { path }) => !hidden.some((above) => path === above || path.startsWith(`${above}/`)),
});

describe("templates", () => {
  it("begin with the URI of their mount, in the order of mounts", async () => {
    const { pressmark } = open({
      "z://a{b}/": suggesting([{ template: "{+path}{?lines}", name: "file", title: "T", mimeType: "text/x" }]),
      "git://repo/": suggesting([
        { template: "tree/{ref}{/path*}", name: "tree" },
        { template: "{?q}", name: "search" },
        { template: "{/all*}", name: "all" },
      ]),
      "test://": suggesting([{ template: "template/{id}/data", name: "data" }]),
      "none://": { list: async () => ({ items: [] }), read: async () => [] },
    });
    expect(await pressmark.templates({}, call)).toEqual({
      items: [
        { uriTemplate: "git://repo/tree/{ref}{/path*}", name: "tree" },
        { uriTemplate: "git://repo{?q}", name: "search" },
        { uriTemplate: "git://repo{/all*}", name: "all" },
        { uriTemplate: "test://template/{id}/data", name: "data" },
        { uriTemplate: "z://a%7Bb%7D/{+path}{?lines}", name: "file", title: "T", mimeType: "text/x" },
      ],
    });
  });

  it("of a hidden mount are not listed", async () => {
    const source = suggesting([{ template: "{x}", name: "x" }], () => [{ value: "v" }]);
    const { pressmark } = open({ "a://": source, "b://": source }, { maySee: (_, mount) => mount !== "a://" });
    expect((await pressmark.templates({}, call)).items).toEqual([{ uriTemplate: "b://{x}", name: "x" }]);
    const ask = { variable: "x", value: "", given: {} };
    await expect(pressmark.complete({ ...ask, template: "a://{x}" }, call)).rejects.toMatchObject({ kind: "invalid" });
    expect(await pressmark.complete({ ...ask, template: "b://{x}" }, call)).toMatchObject({ values: ["v"] });
  });

  it("that cannot be parsed are left out, with a log message", async () => {
    const { pressmark, clock } = open({
      "a://": suggesting([
        { template: "{x", name: "bad" },
        { template: "{x}", name: "good" },
      ]),
    });
    expect((await pressmark.templates({}, call)).items.map(({ name }) => name)).toEqual(["good"]);
    await pressmark.templates({}, call);
    expect(clock.logged).toHaveLength(1);
  });

  it("are those that the source currently has", async () => {
    let templates: SourceTemplate[] = [{ template: "{a}", name: "a" }];
    const base = suggesting([]);
    const { pressmark } = open({
      "a://": {
        list: base.list,
        read: base.read,
        get templates() {
          return templates;
        },
      },
    });
    expect((await pressmark.templates({}, call)).items).toEqual([{ uriTemplate: "a://{a}", name: "a" }]);
    templates = [{ template: "{b}", name: "b" }];
    expect((await pressmark.templates({}, call)).items).toEqual([{ uriTemplate: "a://{b}", name: "b" }]);
  });
});

describe("completion", () => {
  const tree = [{ template: "tree/{ref}/{+path}{?lines}", name: "tree" }];
  const template = "git://repo/tree/{ref}/{+path}{?lines}";

  it("calls the source with its own template and the given variables", async () => {
    const asked: SourceCompletionRequest[] = [];
    const { pressmark } = open({
      "git://repo/": suggesting(tree, (ask) => (asked.push(ask), [{ value: "src" }, { value: "src" }])),
    });
    const given = { ref: "main", other: "x", path: "typed before" };
    expect(await pressmark.complete({ template, variable: "path", value: "s", given }, call)).toEqual({
      values: ["src"],
      total: 1,
      more: false,
    });
    expect(asked).toEqual([
      { template: tree[0], variable: "path", value: "s", given: Object.assign(Object.create(null), { ref: "main" }) },
    ]);
  });

  it.each(["nothing", "toString", "__proto__", "constructor", ""])("knows no variable %j", async (variable) => {
    const { pressmark } = open({ "git://repo/": suggesting(tree, () => [{ value: "v" }]) });
    expect(await pressmark.complete({ template, variable, value: "", given: {} }, call)).toEqual({ values: [] });
  });

  it("has no suggestions if the source has none", async () => {
    const { pressmark } = open({ "git://repo/": suggesting(tree) });
    expect(await pressmark.complete({ template, variable: "ref", value: "", given: {} }, call)).toEqual({
      values: [],
      total: 0,
      more: false,
    });
  });

  it("returns a hundred values and the number of visible ones", async () => {
    const values = Array.from({ length: 250 }, (_, at) => ({
      value: `v${at}`,
      reveals: { path: at % 2 ? "open" : "hidden" },
    }));
    const { pressmark } = open({ "git://repo/": suggesting(tree, () => values) }, hiding("hidden"));
    const answer = await pressmark.complete({ template, variable: "ref", value: "", given: {} }, call);
    expect(answer).toEqual({ values: expect.any(Array), total: 125, more: true });
    expect(answer.values).toHaveLength(100);
    expect(answer.values.slice(0, 2)).toEqual(["v1", "v3"]);
  });

  const complete = async (values: string[], policy: Policy, variable: string, given: Record<string, string>) => {
    const source = suggesting(tree, () => values.map((value) => ({ value })));
    const { pressmark } = open({ "git://repo/": source }, policy);
    return (await pressmark.complete({ template, variable, value: "", given }, call)).values;
  };

  it("checks the address that would be read if the source does not say what a value reveals", async () => {
    const secret = hiding("tree/main/secret", "tree/hidden");
    expect(await complete(["a", "secret/key", "%73ecret/key", ".."], secret, "path", { ref: "main" })).toEqual(["a"]);
    expect(await complete(["main", "hidden", "hidden/x"], secret, "ref", { path: "a" })).toEqual(["main", "hidden/x"]);
    expect(await complete(["q?x", "q"], hiding("tree/main/q?x"), "path", { ref: "main" })).toEqual(["q"]);
    // The path is not given, so the directory that is given decides.
    expect(await complete(["main", "hidden"], secret, "ref", {})).toEqual(["main"]);
    // Not even the ref is given: only the directory of all refs is.
    expect(await complete(["a", "secret"], secret, "path", {})).toEqual(["a", "secret"]);
    expect(await complete(["a"], hiding("tree"), "path", {})).toEqual([]);
    expect(await complete(["1-2"], secret, "lines", { ref: "main", path: "secret/key" })).toEqual([]);
    expect(await complete(["1-2"], secret, "lines", { ref: "main", path: "a" })).toEqual(["1-2"]);
  });

  it("checks an exploded variable by its segments", async () => {
    const source = suggesting([{ template: "tree/{ref}{/path*}", name: "t" }], ({ variable }) =>
      variable === "path" ? [{ value: "a/b" }, { value: "secret/key" }] : [{ value: "main" }, { value: "hidden" }],
    );
    const { pressmark } = open({ "git://repo/": source }, hiding("tree/main/secret", "tree/hidden"));
    const ask = { template: "git://repo/tree/{ref}{/path*}", value: "" };
    expect((await pressmark.complete({ ...ask, variable: "path", given: { ref: "main" } }, call)).values).toEqual([
      "a/b",
    ]);
    expect((await pressmark.complete({ ...ask, variable: "ref", given: {} }, call)).values).toEqual(["main"]);
  });

  it("has no suggestions for a plain URI", async () => {
    const { pressmark } = open({ "git://repo/": suggesting(tree) });
    const ask = { variable: "x", value: "", given: {} };
    expect(await pressmark.complete({ ...ask, template: "git://repo/there" }, call)).toEqual({ values: [] });
    await expect(pressmark.complete({ ...ask, template: "git://repo/nowhere" }, call)).rejects.toMatchObject({
      kind: "invalid",
      message: 'no template "git://repo/nowhere"; list the templates to see those that exist',
    });
    await expect(
      pressmark.complete({ ...ask, template: `git://repo/${"x".repeat(70_000)}` }, call),
    ).rejects.toMatchObject({
      kind: "invalid",
    });
  });

  it("has no suggestions for a missing address, and passes on other errors", async () => {
    const ask = { template, variable: "ref", value: "", given: {} };
    const missing = open({ "git://repo/": failing(tree, new ResourceError("denied", "no")) }).pressmark;
    expect((await missing.complete(ask, call)).values).toEqual([]);
    const down = open({ "git://repo/": failing(tree, new ResourceError("unavailable", "away")) }).pressmark;
    await expect(down.complete(ask, call)).rejects.toMatchObject({ kind: "unavailable" });
  });
});
