/** What a program without types may write or return by mistake. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createApp } from "../server/create-app.ts";
import { createRuntime } from "../server/runtime.ts";
import { serve } from "../server/serve.ts";
import { defineResources, type ResourceDefinitions } from "./define-resources.ts";
import { prompt } from "./prompt.ts";
import { template } from "./template.ts";
import { tool } from "./tool.ts";
import type { SourceRelayed } from "../source.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- as in JavaScript
type Untyped = any;
const call = { caller: { id: "test" }, signal: new AbortController().signal };
const noInput = { clientCapabilities: {} };
const run = () => "";
const read = () => "";

describe("a definition is refused when it is made", () => {
  const city = template("forecast/{city}{?days}", { read });
  it.each<[mistake: string, define: () => unknown, message: string]>([
    [
      "an unknown key",
      () => defineResources({ text: {} } as Untyped),
      '"text" is unknown in defineResources; did you mean "texts"?',
    ],
    [
      "no object",
      () => defineResources(undefined as Untyped),
      "defineResources is missing; write defineResources({ texts",
    ],
    ["a list of texts", () => defineResources({ texts: ["a"] } as Untyped), '"texts" is a list; write {'],
    [
      "a number as text",
      () => defineResources({ texts: { a: 5 } } as Untyped),
      'the text "a" is a number; write a text',
    ],
    [
      "another object as text",
      () => defineResources({ texts: { a: { a: 1 } } } as Untyped),
      'the text "a" is an object; write',
    ],
    ["null as text", () => defineResources({ texts: { a: null } } as Untyped), 'the text "a" is null; write'],
    [
      "a text that is none",
      () => defineResources({ texts: { a: { text: 5 } } } as Untyped),
      'an object whose "text" is a number',
    ],
    [
      "a read that is none",
      () => defineResources({ texts: { a: { read: 5 } } } as Untyped),
      '"read" of the text "a" is a number',
    ],
    [
      "an object of templates",
      () => defineResources({ templates: {} } as Untyped),
      '"templates" is an object; write a list',
    ],
    [
      "a template as text",
      () => defineResources({ templates: ["a/{b}"] } as Untyped),
      "templates[0] is a text; make it with template(",
    ],
    ["a template without a text", () => template(5 as Untyped, { read }), "the template is a number; write a text"],
    [
      "a template without read",
      () => template("u/{id}", {} as Untyped),
      '"read" of the template "u/{id}" is missing; write a function',
    ],
    ["a template alone", () => (template as Untyped)("u/{id}"), 'the template "u/{id}" is missing; write { read }'],
    [
      "completion of no variable",
      () => template("u/{id}", { read, complete: { nope: () => [] } } as Untyped),
      '"nope" is no variable of the template "u/{id}"; it has "id"',
    ],
    [
      "completion without a function",
      () => template("u/{id}", { read, complete: { id: ["a"] } } as Untyped),
      '"complete" for "id" of the template "u/{id}" is a list',
    ],
    [
      "a number as value",
      () => city.at({ city: 5 } as Untyped),
      'the value of "city" for the template "forecast/{city}{?days}" is a number; write a text',
    ],
    ["a value of no variable", () => city.at({ city: "x", day: "1" } as Untyped), '"day" is no variable'],
    ["no values", () => (city.at as Untyped)(), 'the parameter of "at" of the template'],
    [
      "a tool without description",
      () => defineResources({ tools: { t: tool({ run } as Untyped) } }),
      '"description" of the tool "t" is missing',
    ],
    [
      "a tool without run",
      () => defineResources({ tools: { t: tool({ description: "…" } as Untyped) } }),
      '"run" of the tool "t" is missing',
    ],
    [
      "another name of input",
      () => defineResources({ tools: { t: tool({ description: "…", inputs: {}, run } as Untyped) } }),
      'did you mean "input"?',
    ],
    [
      "JSON Schema as input",
      () => defineResources({ tools: { t: tool({ description: "…", input: { type: "object" }, run } as Untyped) } }),
      'the input of the tool "t" is an object; it must be',
    ],
    [
      "a function as tool",
      () => defineResources({ tools: { t: run } } as Untyped),
      'the tool "t" is a function; write tool({',
    ],
    ["a list of arguments", () => prompt({ args: ["city"], run } as Untyped), '"args" of a prompt is a list; write {'],
    [
      "a repeated argument",
      () => prompt({ args: { x: "", "x?": "" }, run }),
      'the argument "x" of a prompt is defined twice',
    ],
    [
      "a number as argument",
      () => prompt({ args: { x: 5 }, run } as Untyped),
      'the argument "x" of a prompt is a number; write its description',
    ],
    ["a prompt without run", () => prompt({ description: "…" } as Untyped), '"run" of a prompt is missing'],
    [
      "a function as prompt",
      () => defineResources({ prompts: { p: run } } as Untyped),
      'the prompt "p" is a function; make it with prompt({',
    ],
  ])("%s", (_, define, message) => {
    expect(define).toThrow(message);
  });

  it("also when a text is set later", () => {
    const source = defineResources({});
    expect(() => source.set("a", 5 as Untyped)).toThrow('the text "a" is a number');
    expect(() => source.set("a", run as Untyped)).toThrow('the text "a" is a function');
  });
});

describe("the input of a tool", () => {
  const faulty = {
    text: tool({ description: "…", input: (zod) => zod.string() as Untyped, run }),
    mixed: tool({ description: "…", input: (zod) => zod.union([zod.object({}), zod.string()]) as Untyped, run }),
    throwing: tool({
      description: "…",
      input: () => {
        throw new Error("no schema today");
      },
      run,
    }),
    none: tool({ description: "…", input: (() => ({})) as Untyped, run }),
  };
  const tools = { good: tool({ description: "…", run }), ...faulty };

  it("that is faulty ends the start, with the name of each tool", async () => {
    const mounts = { w: defineResources({ tools }) };
    for (const start of [createApp({ name: "w", mounts }), serve({ name: "w", port: 0, mounts })]) {
      const failure: Error = await start.then(
        () => expect.fail("it started"),
        (cause: Error) => cause,
      );
      expect(failure).toMatchObject({ kind: "invalid" });
      expect(failure.message.split("\n")).toEqual([
        expect.stringContaining('the input of the tool "text" is a schema of something else; it must be an object'),
        expect.stringContaining('the input of the tool "mixed" is a schema of something else'),
        'the input of the tool "throwing" cannot be made: no schema today',
        expect.stringContaining('the input of the tool "none" is an object; it must be an object of zod 4'),
      ]);
    }
  });

  it("that is faulty does not hide the others, where nobody checked it at the start", async () => {
    const { relayed } = defineResources({ tools });
    const { tools: list, callTool } = relayed as SourceRelayed;
    expect((await list(call)).map(({ name }) => name)).toEqual(["good", "text", "mixed", "throwing", "none"]);
    expect(await callTool("good", {}, noInput, call)).toMatchObject({ content: [{ type: "text" }] });
    await expect(callTool("throwing", {}, noInput, call)).rejects.toMatchObject({
      kind: "unexpected",
      message: `the tool "throwing" is faulty; the server's log has the cause`,
      cause: { message: expect.stringContaining("no schema today") },
    });
  });

  it("is a schema, a function that makes one, or a union of objects", async () => {
    const a = z.object({ kind: z.literal("a"), x: z.number() });
    const b = z.object({ kind: z.literal("b") });
    const { relayed, checkTools } = defineResources({
      tools: {
        schema: tool({ description: "…", input: a, run: ({ x }) => `${x + 1}` }),
        either: tool({
          description: "…",
          input: (zod) => zod.discriminatedUnion("kind", [a, b]),
          run: (input) => (input.kind === "a" ? `${input.x}` : "b"),
        }),
        any: tool({ description: "…", input: z.union([z.union([a, b]), z.object({ y: z.string() })]), run }),
        both: tool({ description: "…", input: z.intersection(a, z.object({ y: z.string() })), run }),
      },
    });
    await checkTools();
    const { tools: list, callTool } = relayed as SourceRelayed;
    expect((await list(call)).map(({ inputSchema }) => Object.keys(inputSchema).sort())).toEqual([
      ["properties", "required", "type"],
      ["oneOf", "type"],
      ["anyOf", "type"],
      ["properties", "required", "type"],
    ]);
    expect(await callTool("schema", { kind: "a", x: 1 }, noInput, call)).toMatchObject({ content: [{ text: "2" }] });
    expect(await callTool("either", { kind: "b" }, noInput, call)).toMatchObject({ content: [{ text: "b" }] });
    expect(await callTool("either", { kind: "c" }, noInput, call)).toMatchObject({ isError: true });
  });
});

const returning = (output: unknown) => {
  const source = defineResources({
    texts: { x: () => output as Untyped },
    templates: [template("t/{id}", { read: () => output as Untyped, complete: { id: () => output as Untyped } })],
    tools: { x: tool({ description: "…", run: () => output as Untyped }) },
    prompts: { x: prompt({ args: { a: { complete: () => output as Untyped } }, run: () => output as Untyped }) },
  } satisfies ResourceDefinitions);
  const { callTool, getPrompt, completePrompt } = source.relayed as SourceRelayed;
  return {
    text: () => source.read({ path: "x" }, call),
    template: () => source.read({ path: "t/1" }, call),
    suggest: () =>
      source.complete!({ template: { template: "t/{id}", name: "t" }, variable: "id", value: "", given: {} }, call),
    tool: () => callTool("x", {}, noInput, call),
    prompt: () => getPrompt("x", { a: "" }, noInput, call),
    argument: () => completePrompt("x", { variable: "a", value: "", given: {} }, call),
  };
};

describe("a function that returns something else", () => {
  it.each<[output: unknown, kind: string]>([
    [{ a: 1 }, "an object"],
    [5, "a number"],
    [new Map(), "an object (Map)"],
    [[["a"], "b"], "a list with a list"],
    [["a", null], "a list with null"],
    [{ type: "bogus" }, 'a block of the unknown type "bogus"'],
    [{ type: "text" }, 'a block whose "text" is undefined'],
    [{ type: "image", data: "!!!", mimeType: 5 }, 'a block whose "bytes" (a Uint8Array) is undefined'],
    [{ type: "image", bytes: new Uint8Array(), mimeType: 5 }, 'a block whose "mimeType" is a number'],
    [{ type: "link" }, 'a block of the type "link" without an entry'],
    [
      { type: "embedded", part: { at: { path: "x" }, body: { json: 1 } } },
      'a block of the type "embedded" without a part',
    ],
  ])("is named, and nothing of it is sent: %j", async (output, kind) => {
    const made = returning(output);
    await expect(made.tool()).rejects.toMatchObject({
      kind: "unexpected",
      message: expect.stringContaining(`the tool "x" returned ${kind}; return { json: … }, a text`),
    });
    await expect(made.prompt()).rejects.toMatchObject({
      kind: "unexpected",
      message: expect.stringContaining(`the prompt "x" returned ${kind}; return a text`),
    });
  });

  it.each<[output: unknown, kind: string]>([
    [5, "a number"],
    [["a"], "a list"],
    [{ a: 1 }, "an object"],
    [{ text: 5 }, 'an object whose "text" is a number'],
    [{ bytes: "x" }, 'an object whose "bytes" is a text'],
    [{ text: "", mimeType: 5 }, 'an object whose "mimeType" is a number'],
  ])("is no content: %j", async (output, kind) => {
    const { text, template: readTemplate } = returning(output);
    await expect(text()).rejects.toThrow(`the function of "x" returned ${kind}; return a text, bytes`);
    await expect(readTemplate()).rejects.toThrow(`the template "t/{id}" returned ${kind}; return a text, bytes`);
  });

  it("is no list of suggestions", async () => {
    for (const [output, kind] of [
      [5, "a number"],
      [[5], "a list with a number"],
    ] as const) {
      const { suggest, argument } = returning(output);
      await expect(suggest()).rejects.toThrow(`returned ${kind}; return a list of texts`);
      await expect(argument()).rejects.toThrow(`returned ${kind}; return a list of texts`);
    }
  });

  it.each([undefined, null])(
    "%j is missing content, an empty result and no suggestions, but no message",
    async (none) => {
      const made = returning(none);
      for (const missing of [made.text, made.template])
        await expect(missing()).rejects.toMatchObject({ kind: "not-found" });
      expect(await made.suggest()).toEqual([]);
      expect(await made.argument()).toMatchObject({ values: [], total: 0 });
      expect(await made.tool()).toEqual({ content: [] });
      await expect(made.prompt()).rejects.toThrow(`the prompt "x" returned ${none}; return a text`);
    },
  );

  it("is no suggestion for an argument of a prompt, which reveals nothing", async () => {
    const { suggest, argument } = returning([{ value: "a" }]);
    expect(await suggest()).toEqual([{ value: "a" }]);
    await expect(argument()).rejects.toThrow("returned a list with an object; return a list of texts");
  });

  it("is a message with another role or content", async () => {
    await expect(returning({ role: "system", content: "x" }).prompt()).rejects.toThrow('"role" is not');
    await expect(returning([{ role: "user", content: 5 }]).prompt()).rejects.toThrow('whose "content" is a number');
  });
});

const fail = () => {
  throw new Error("the database is away");
};

it("the log has the message and the place of a failure, once", async () => {
  const log: string[] = [];
  const weather = defineResources({
    texts: { "a.md": fail },
    tools: { find: tool({ description: "…", readOnly: true, run: fail }) },
    prompts: { plan: prompt({ run: fail }) },
  });
  const serving = await serve({
    name: "w",
    port: 0,
    search: false,
    mounts: { weather },
    runtime: createRuntime({ write: (line: string) => Boolean(log.push(line)) }),
  });
  onTestFinished(() => serving.close());
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(serving.url)));
  onTestFinished(() => client.close());
  for (const [ask, what] of [
    [() => client.readResource({ uri: "weather://a.md" }), 'asked "read"'],
    [() => client.callTool({ name: "find" }), 'asked "find"'],
    [() => client.getPrompt({ name: "plan" }), 'asked "plan"'],
  ] as const) {
    log.length = 0;
    await ask().catch(() => undefined);
    expect(log).toHaveLength(1);
    expect(log[0]).toContain(what);
    expect(log[0]).toContain('cause "the database is away", at "');
    expect(log[0]).toContain("wrong-values.test.ts:");
  }
});
