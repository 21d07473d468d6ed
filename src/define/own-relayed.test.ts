/** Tools and prompts of a small server, through the router and the protocol. */
import { describe, expect, expectTypeOf, it } from "vitest";
import { createRulesPolicy } from "../access/rules.ts";
import { openPolicy, type Policy } from "../access/policy.ts";
import { notFound } from "../errors.ts";
import { withRelayedPrompts } from "../protocol/relayed-prompts.ts";
import { promptSetOf } from "../protocol/prompts.ts";
import { createRelayedTools } from "../protocol/tools/relayed-tools.ts";
import type { Relayed } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import { createRuntime } from "../server/runtime.ts";
import { embed, link } from "./blocks.ts";
import { defineResources, type ResourceDefinitions } from "./define-resources.ts";
import { prompt } from "./prompt.ts";
import { template } from "./template.ts";
import { tool } from "./tool.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };
const noInput = { clientCapabilities: {} };

const station = template("stations/{id}", {
  mimeType: "application/json",
  description: "One station",
  read: ({ id }) => (id === "44" ? { json: { id } } : undefined),
});

function open(definitions: ResourceDefinitions, policy: Policy = openPolicy) {
  const log: string[] = [];
  const source = defineResources({
    texts: { "about.md": { text: "# About", title: "About" } },
    templates: [station],
    ...definitions,
  });
  const { relayed } = createResources({
    mounts: [{ name: "weather", base: "weather://", source }],
    policy,
    runtime: createRuntime({ write: (line: string) => Boolean(log.push(line)) }),
    cursorKey: new Uint8Array(32),
  });
  const { callTool, getPrompt, completePrompt } = relayed as Relayed;
  return {
    log,
    relayed: relayed as Relayed,
    use: (name: string, args: Record<string, unknown> = {}, as = call) => callTool(named(name), args, noInput, as),
    ask: (name: string, args: Record<string, string> = {}) => getPrompt(named(name), args, noInput, call),
    complete: (name: string, variable: string, value: string, given = {}) =>
      completePrompt(named(name), { variable, value, given }, call),
  };
}

const named = (name: string) => ({ mount: "weather", name });
const text = (said: string) => ({ type: "text", text: said });

describe("a tool", () => {
  it("has types from its schema, and gets only input that matches", async () => {
    const { use, relayed } = open({
      tools: {
        nearest: tool({
          description: "Find the nearest station.",
          input: (z) => z.object({ lat: z.number().min(-90).max(90), note: z.string().optional() }),
          readOnly: true,
          run(input) {
            expectTypeOf(input).toEqualTypeOf<{ lat: number; note?: string | undefined }>();
            return `${input.lat} ${input.note}`;
          },
        }),
      },
    });
    expect(await use("nearest", { lat: 35 })).toEqual({ content: [text("35 undefined")] });
    expect(await use("nearest", { lat: "x", note: 1 })).toEqual({
      content: [text('nearest: "lat" must be a number; "note" must be a text')],
      isError: true,
    });
    expect(await relayed.tools(call)).toMatchObject([
      {
        name: "nearest",
        description: "Find the nearest station.",
        annotations: { readOnlyHint: true },
        inputSchema: {
          type: "object",
          properties: { lat: { type: "number", minimum: -90, maximum: 90 }, note: { type: "string" } },
          required: ["lat"],
        },
      },
    ]);
  });

  it("returns texts, JSON, links and resources with their content", async () => {
    const { use } = open({
      tools: {
        all: tool({
          description: "…",
          run: () => [
            "see",
            link("about.md"),
            link(station.at({ id: "7" }), { title: "Station 7" }),
            embed(station.at({ id: "44" })),
            { type: "image", bytes: new Uint8Array([1]), mimeType: "image/png" },
          ],
        }),
        one: tool({ description: "…", run: async () => link("about.md") }),
        object: tool({ description: "…", run: () => ({ json: { a: 1 } }) }),
        list: tool({ description: "…", run: () => ({ json: [1] }) }),
      },
    });
    const about = { uri: "weather://about.md", title: "About", mimeType: "text/markdown", size: 7 };
    expect(await use("all")).toMatchObject({
      content: [
        text("see"),
        { type: "link", resource: about },
        {
          type: "link",
          resource: {
            uri: "weather://stations/7",
            title: "Station 7",
            description: "One station",
            mimeType: "application/json",
          },
        },
        {
          type: "embedded",
          content: { uri: "weather://stations/44", mimeType: "application/json", body: { text: '{\n  "id": "44"\n}' } },
        },
        { type: "image", mimeType: "image/png" },
      ],
    });
    expect(await use("one")).toMatchObject({ content: [{ type: "link", resource: about }] });
    expect(await use("object")).toEqual({ content: [text('{\n  "a": 1\n}')], structuredContent: { a: 1 } });
    expect(await use("list")).toEqual({ content: [text("[\n  1\n]")] });
  });

  it("tells the model what it got wrong, and only the log what broke", async () => {
    const { use, log } = open({
      tools: {
        missing: tool({
          description: "…",
          run() {
            throw notFound("station 99");
          },
        }),
        unread: tool({ description: "…", run: () => embed(station.at({ id: "99" })) }),
        unlinked: tool({ description: "…", run: () => link("abuot.md") }),
        broken: tool({
          description: "…",
          run() {
            throw new Error("password=hunter2");
          },
        }),
      },
    });
    expect(await use("missing")).toEqual({ content: [text('no resource at "station 99"')], isError: true });
    expect(await use("unread")).toEqual({
      content: [text('no resource at "stations/99"')],
      isError: true,
    });
    expect(await use("unlinked")).toEqual({
      content: [text('"abuot.md" is no text and matches no template of this mount')],
      isError: true,
    });
    await expect(use("broken")).rejects.toMatchObject({
      kind: "unexpected",
      message: `the tool "broken" failed; the server's log has the cause`,
    });
    expect(log.join("")).toContain("hunter2");
    await expect(use("toString")).rejects.toMatchObject({ kind: "not-found" });
  });

  it("gets the caller and the signal", async () => {
    const stop = new AbortController();
    const begun = Promise.withResolvers<string>();
    const { use } = open({
      tools: {
        wait: tool({
          description: "…",
          run: (_input, { caller, signal }) =>
            new Promise((_, reject) => {
              signal.addEventListener("abort", () => reject(signal.reason));
              begun.resolve(caller.id);
            }),
        }),
      },
    });
    const running = use("wait", {}, { ...call, signal: stop.signal });
    expect(await begun.promise).toBe("test");
    stop.abort();
    await expect(running).rejects.toMatchObject({ kind: "cancelled" });
  });

  it("that may change something is for callers who may write", async () => {
    const tools = {
      look: tool({ description: "…", readOnly: true, run: () => "" }),
      write: tool({ description: "…", run: () => "" }),
    };
    const { relayed, use } = open({ tools }, createRulesPolicy([{ allow: ["anyone"] }]));
    expect((await relayed.tools(call)).map(({ name }) => name)).toEqual(["look"]);
    await expect(use("write")).rejects.toMatchObject({ kind: "not-found" });
    const hidden = open(
      { tools },
      createRulesPolicy([{ allow: ["anyone"] }, { deny: ["anyone"], paths: ["about.md"] }]),
    );
    expect(await hidden.relayed.tools(call)).toEqual([]);
  });

  it("has a name that every host accepts", () => {
    expect(() => open({ tools: { "a b": tool({ description: "…", run: () => "" }) } })).toThrow(
      '"a b" cannot be the name',
    );
  });
});

describe("a prompt", () => {
  const packing = prompt({
    title: "Packing",
    description: "What to pack",
    args: {
      city: {
        description: "Where to",
        complete: (value) => ["Kobe", "Kyoto"].filter((city) => city.startsWith(value)),
      },
      "days?": { complete: (_value, { city }) => (city === "Kobe" ? ["1"] : []) },
    },
    run({ city, days }) {
      expectTypeOf(city).toEqualTypeOf<string>();
      expectTypeOf(days).toEqualTypeOf<string | undefined>();
      return [`Pack for ${city}, ${days}`, embed("about.md"), { role: "assistant", content: "Gladly." }];
    },
  });

  it("has typed arguments, and messages with resources", async () => {
    // @ts-expect-error -- "town" is not an argument
    const wrong = prompt({ args: { city: "Where to" }, run: ({ town }) => `${town}` });
    const { relayed, ask } = open({ prompts: { packing, wrong } });
    expect(await relayed.prompts(call)).toMatchObject([
      {
        name: "packing",
        title: "Packing",
        arguments: [
          { name: "city", description: "Where to", required: true },
          { name: "days", required: false },
        ],
      },
      { name: "wrong" },
    ]);
    expect(await ask("packing", { city: "Kyoto", other: "x" })).toMatchObject({
      messages: [
        { role: "user", content: text("Pack for Kyoto, undefined") },
        {
          role: "user",
          content: { type: "embedded", content: { uri: "weather://about.md", body: { text: "# About" } } },
        },
        { role: "assistant", content: text("Gladly.") },
      ],
    });
  });

  it("gets only the arguments that it defines", async () => {
    const echo = prompt({ args: { a: "A", "b?": "B" }, run: (args) => JSON.stringify(args) });
    const { ask } = open({ prompts: { echo } });
    expect(await ask("echo", { a: "1", "b?": "2", c: "3" })).toMatchObject({
      messages: [{ content: text('{"a":"1"}') }],
    });
  });

  it("completes its arguments", async () => {
    const { complete } = open({ prompts: { packing } });
    expect(await complete("packing", "city", "Ky")).toMatchObject({ values: ["Kyoto"], total: 1, more: false });
    expect(await complete("packing", "days", "", { city: "Kobe" })).toMatchObject({ values: ["1"] });
    expect(await complete("packing", "toString", "")).toMatchObject({ values: [] });
  });

  it("says which resource is missing", async () => {
    const missing = prompt({ run: () => embed(station.at({ id: "99" })) });
    await expect(open({ prompts: { missing } }).ask("missing")).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining("no resource at"),
    });
  });
});

describe("names", () => {
  it("are those of the program, unless another has them", async () => {
    const tools = { nearest: tool({ description: "…", run: () => "" }) };
    const { relayed } = open({ tools, prompts: { packing: prompt({ run: () => "" }) } });
    const offered = async (taken: readonly string[]) =>
      (await createRelayedTools(relayed).list(new Set(taken), call)).map(({ name }) => name);
    expect(await offered([])).toEqual(["nearest"]);
    expect(await offered(["nearest"])).toEqual(["weather_nearest"]);
    const prompts = await withRelayedPrompts(promptSetOf([]), relayed).list(call);
    expect(prompts.map(({ name }) => name)).toEqual(["packing"]);
  });
});
