import { expect, it } from "vitest";
import { openPolicy, type Policy } from "../access/policy.ts";
import { ResourceError } from "../errors.ts";
import type { Call } from "../resources.ts";
import { createMemory } from "../sources/memory.ts";
import type { Source, SourceAction } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { refusal } from "../testing/refusal.ts";
import { createResources } from "./create-resources.ts";

const call: Call = { caller: { id: "test" }, signal: new AbortController().signal };

const greet: SourceAction<{ readonly name: string; readonly times: number }> = {
  description: "Greet someone",
  input: (zod) => zod.strictObject({ name: zod.string().min(1), times: zod.int().max(3).default(1) }),
  run: async ({ name, times }) => ({
    value: { said: `hello ${name} `.repeat(times).trim() },
    entries: [{ path: `people/${name}` }],
  }),
};

function pressmark(policy: Policy = openPolicy, more: Source["actions"] = {}) {
  const { source } = createMemory({ a: "a" });
  const clock = createClock();
  const mounts = [
    { name: "hall", base: "hall://", source: { ...source, actions: { greet, ...more } } },
    { name: "shed", base: "shed://", source },
  ];
  const resources = createResources({ mounts, policy, runtime: clock.runtime, cursorKey: new Uint8Array(32) });
  const act = (input: unknown, what: Partial<{ mount: string; name: string }> = {}) =>
    resources.act!({ mount: "hall", name: "greet", ...what }, input, call);
  return { ...resources, act, clock };
}

const failing = (kind: "denied" | "busy" | "unexpected"): SourceAction => ({
  ...(greet as SourceAction),
  input: (zod) => zod.unknown(),
  run: async () => {
    throw new ResourceError(kind, "because");
  },
});

it("lists actions with a schema", async () => {
  expect(await pressmark().actions!(call)).toEqual([
    {
      mount: "hall",
      name: "greet",
      description: "Greet someone",
      readOnly: false,
      inputSchema: {
        type: "object",
        properties: {
          name: { type: "string", minLength: 1 },
          times: { type: "integer", default: 1, maximum: 3, minimum: Number.MIN_SAFE_INTEGER },
        },
        required: ["name"],
        additionalProperties: false,
      },
    },
  ]);
});

it("runs an action with valid input, and the result names its resources", async () => {
  expect(await pressmark().act({ name: "Ada" })).toEqual({
    value: { said: "hello Ada", uris: ["hall://people/Ada"] },
    resources: [{ uri: "hall://people/Ada", name: "Ada", title: "hall/people/Ada" }],
  });
});

it("rejects invalid input with the names of the fields, and runs nothing", async () => {
  const fields = async (input: unknown) =>
    (await refusal(pressmark().act(input), ["invalid"], "a wrong input")).details?.["fields"];
  expect(await fields({ name: 7, times: 9 })).toEqual({ name: "must be a text", times: "must be at most 3" });
  expect(await fields({})).toEqual({ name: "is missing; it must be a text" });
  expect(await fields({ name: "", tmes: 1 })).toEqual({ name: "must not be empty", tmes: "is unknown" });
  expect(await fields(null)).toEqual({ "": "must be an object" });
  const sly = refusal(pressmark().act(JSON.parse('{"name":"x","__proto__":{"times":1}}')), ["invalid"], "a prototype");
  expect((await sly).message).toBe('greet: "__proto__" is unknown');
});

it("reports many problems at once", async () => {
  const input = { name: "", ...Object.fromEntries(Array.from("abcdefghij", (name) => [name, 1])) };
  const { message } = await refusal(pressmark().act(input), ["invalid"], "a wrong input");
  for (const part of ['"name" must not be empty', '"a" is unknown', '"j" is unknown']) expect(message).toContain(part);
});

it("does not repeat a huge input in the message", async () => {
  const input = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`${at}${"x".repeat(300)}`, 1]));
  const { message, details } = await refusal(pressmark().act(input), ["invalid"], "a huge input");
  expect(message.length).toBeLessThan(2100);
  expect(message).toMatch(/; and \d+ more$/);
  expect(JSON.stringify(details).length).toBeLessThan(20_000);
  const named: SourceAction = { ...(greet as SourceAction), input: (zod) => zod.record(zod.string(), zod.number()) };
  const long = pressmark(openPolicy, { named }).act({ ["x".repeat(100_000)]: "no number" }, { name: "named" });
  expect(JSON.stringify((await refusal(long, ["invalid"], "a long name")).details).length).toBeLessThan(200);
});

it("rejects a missing action, and one of a mount that the caller may not see, with the same message", async () => {
  const hidden = pressmark({ maySee: (_caller, mount, { path }) => mount !== "hall" || path !== "" });
  expect(await hidden.actions!(call)).toEqual([]);
  const { message } = await refusal(hidden.act({ name: "Ada" }), ["not-found"], "a hidden mount");
  for (const what of [{ mount: "cave" }, { name: "constructor" }, { name: "toString" }, { mount: "shed" }]) {
    const missing = await refusal(pressmark().act({ name: "Ada" }, what), ["not-found"], JSON.stringify(what));
    const { mount = "hall", name = "greet" } = { ...what } as { mount?: string; name?: string };
    expect(missing.message).toBe(message.replace('"hall"', `"${mount}"`).replace('"greet"', `"${name}"`));
  }
});

it("does not return a result about an entry that the caller may not see", async () => {
  const { act } = pressmark({ maySee: (_caller, _mount, { path }) => path !== "people/Eve" });
  await act({ name: "Ada" });
  const { message } = await refusal(act({ name: "Eve" }), ["not-found"], "Eve");
  expect(message).not.toContain("Eve");
});

it("reports an error of the source as a read would", async () => {
  const { act, clock } = pressmark(openPolicy, {
    denied: failing("denied"),
    busy: failing("busy"),
    bug: failing("unexpected"),
  });
  await refusal(act({}, { name: "denied" }), ["not-found"], "denied");
  await refusal(act({}, { name: "busy" }), ["busy"], "busy");
  await refusal(act({}, { name: "bug" }), ["unexpected"], "a bug");
  expect(clock.logged).toMatchObject([{ level: "warn" }, { level: "error", facts: { mount: "hall", asked: "bug" } }]);
});

it("offers actions that change something only to callers who may write", async () => {
  const looking: SourceAction = { ...(greet as SourceAction), readOnly: true };
  const policy: Policy = { maySee: () => true, mayWrite: ({ id }) => id === "writer" };
  const { actions, act } = pressmark(policy, { look: looking });
  const namesFor = async (id: string) => (await actions!({ ...call, caller: { id } })).map(({ name }) => name);
  expect(await namesFor("writer")).toEqual(["greet", "look"]);
  expect(await namesFor("test")).toEqual(["look"]);
  await refusal(act({ name: "aki" }), ["not-found"], "greet");
  expect((await act({ name: "aki" }, { name: "look" })).value).toMatchObject({ said: "hello aki" });
});
