/**
 * No operation reveals what read refuses: a server with hidden resources responds to every request exactly like a server in which
 * those resources do not exist.
 */
import fc from "fast-check";
import { openPolicy } from "./policy.ts";
import { describe, expect, it, onTestFinished } from "vitest";
import type { SetConfig } from "../config/sets.ts";
import { gather } from "../context/gather.ts";
import { createGatherPrompt } from "../protocol/gather-prompt.ts";
import { createReadingTools } from "../protocol/tools/reading-tools.ts";
import type { ToolCall } from "../protocol/tools.ts";
import type { Call, Caller, Change, WatchFilter } from "../resources.ts";
import { createResourcesWithSets } from "../server/sets/test-sets.ts";
import { createCountTokens } from "../protocol/tools/count-tokens.ts";
import { createSaveSet } from "../server/sets/save-set.ts";
import { createSetPrompts } from "../server/sets/set-prompts.ts";
import { createClock } from "../testing/clock.ts";
import type { Policy } from "./policy.ts";
import { askAll, encode, outcome, overEncode } from "./test-entry-points.ts";
import { createModel, createTree, type Effect, effectsOf, type Hidden, isHidden, type Model } from "./test-plan.ts";
import { type MountPlan, plan } from "./test-plan.ts";

function createTestServer(
  plans: readonly MountPlan[],
  policy: Policy,
  pageSize: number,
  exists: (mount: string, path: string) => boolean,
  sets: readonly SetConfig[],
) {
  const clock = createClock();
  const trees = plans.map((one) => ({ ...createTree(one, (at) => exists(one.name, at)), name: one.name }));
  const mounts = trees.map(({ name, source }) => ({
    name,
    base: `${name}://`,
    source,
    freshness: { ttlMs: 7, scope: "public" as const },
  }));
  const chosen = createResourcesWithSets({
    mounts,
    policy,
    runtime: clock.runtime,
    cursorKey: new Uint8Array(32),
    pageSize,
    configured: () => ({ sets, folder: "/", server: { zed: true } }),
  });
  const pressmark = chosen.resources;
  const prompts = createSetPrompts({ ...chosen, others: [] });
  const seenBy = (caller: Caller) => mounts.filter(({ name }) => policy.maySee(caller, name, { path: "" }));
  const tools = [
    ...createReadingTools({ resources: pressmark, server: "pressmark", mounts: seenBy }),
    createCountTokens(pressmark),
    // Saved sets are not stored in this test.
    createSaveSet({
      policy: openPolicy,
      promptName: (name) => name,
      resources: pressmark,
      sets: { ...chosen.sets, save: async () => true },
    }),
  ];
  return { pressmark, clock, trees, tools, prompts, sets };
}

/** The results of every tool. */
async function askTools(
  { tools }: Pick<ReturnType<typeof createTestServer>, "tools">,
  uris: readonly string[],
  sets: readonly string[],
  call: Call,
) {
  const asked: ToolCall = { ...call, inputResponses: undefined, requestState: undefined, clientCapabilities: {} };
  const answers = new Map<string, unknown>();
  for (const { name, description, call: use } of tools) {
    answers.set(name, typeof description === "function" ? description(call.caller) : description);
    const asks: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
      search_resources: [{ query: "tea" }, ...uris.map((within) => ({ query: "tea", within }))],
      list_resources: [{ limit: 500 }, ...uris.map((within) => ({ within, limit: 500 }))],
      read_resource: uris.flatMap((uri) => [{ uri }, { uri, lines: "1-1" }, { uri: `${uri}x` }]),
      gather_context: [
        { task: "tea" },
        { task: "milk in the cup", budget: 200, include: [...sets, ...uris].slice(0, 50) },
      ],
      count_tokens: [{ uris: uris.flatMap((uri) => [uri, `${uri}?lines=1-1`]).slice(0, 100) }],
      save_set: uris.flatMap((uri) => [
        { name: "mine", uris: [uri] },
        { name: "only-0", uris: [uri] },
      ]),
    };
    for (const args of asks[name] ?? [])
      answers.set(`${name} ${JSON.stringify(args)}`, await outcome(use(args, asked)));
  }
  return answers;
}

/** The pack for a task that names resources, a pack without a task, and the prompt made from it. */
async function askGather(
  { pressmark }: Pick<ReturnType<typeof createTestServer>, "pressmark">,
  uris: readonly string[],
  call: Call,
): Promise<unknown> {
  const asked: ToolCall = { ...call, inputResponses: undefined, requestState: undefined, clientCapabilities: {} };
  const task = `tea for ${uris.join(" and ")}`;
  const prompt = createGatherPrompt(pressmark);
  return {
    named: await outcome(gather(pressmark, { task, budget: 400 }, call)),
    packed: await outcome(gather(pressmark, { include: uris, budget: 400, format: "json" }, call)),
    prompt: await outcome(Promise.resolve(prompt.get({ task: "milk", include: uris.join(" ") }, asked))),
  };
}

/** Each set as a person sees it, and its content. */
async function askPrompts(
  { prompts, sets }: Pick<ReturnType<typeof createTestServer>, "prompts" | "sets">,
  call: Call,
): Promise<unknown> {
  const asked: ToolCall = { ...call, inputResponses: undefined, requestState: undefined, clientCapabilities: {} };
  const said = async (name: string) => (await prompts.find(name, call))?.get({}, asked);
  const listed = (await prompts.list(call)).map(({ name, title, description }) => ({ name, title, description }));
  return { listed, answers: await Promise.all(sets.map(({ name }) => outcome(said(name)))) };
}

/** The URIs that a watch acknowledges, and the changes that it reports after each step, in any order. */
async function watch(
  { pressmark, clock, trees }: ReturnType<typeof createTestServer>,
  filter: WatchFilter,
  steps: readonly { readonly mount: string; readonly effects: readonly Effect[] }[],
  caller: Caller,
) {
  const asking = new AbortController();
  const watched = await pressmark.watch(filter, { caller, signal: asking.signal });
  const heard: string[][] = [];
  let now: string[] = [];
  const reading = (async () => {
    for await (const change of watched as AsyncIterable<Change>)
      now.push(change.kind === "updated" ? change.uri : change.kind);
  })();
  for (const { mount, effects } of steps) {
    const tree = trees.find(({ name }) => name === mount);
    for (const effect of effects) tree?.take(effect);
    await clock.advance(5000);
    heard.push([...new Set(now)].sort());
    now = [];
  }
  asking.abort();
  await reading;
  return { uris: watched.uris, heard };
}

describe("no operation reveals what read refuses", () => {
  it("whatever exists, whoever calls, and whatever is hidden from them", async () => {
    // Most results are errors, and their stack traces would cost more than the rest; a failure shows the request.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    onTestFinished(() => void (Error.stackTraceLimit = stackTraceLimit));
    await fc.assert(
      fc.asyncProperty(plan, async ({ mounts: plans, hidden, pageSize, steps }) => {
        const mounts = plans.map(({ name }) => name);
        const bases = mounts.map((mount) => `${mount}://`);
        const callers: Caller[] = hidden.map((_, at) => ({ id: String(at) }));
        const hiddenFrom = ({ id }: Caller) => hidden[Number(id)] as Hidden;
        const policy: Policy = { maySee: (caller, mount, at) => !isHidden(hiddenFrom(caller), mount, at.path) };
        const paths = new Set([
          "",
          "nowhere",
          "a/b",
          ...plans.flatMap(({ nodes }) => Object.keys(nodes)),
          ...steps.map((step) => step.path),
        ]);
        const plain = mounts.flatMap((mount) => [...paths].map((at) => `${mount}://${encode(at)}`));
        const uris = [
          ...plain,
          ...mounts.flatMap((mount) => [...paths].slice(0, 9).map((at) => `${mount}://${overEncode(encode(at))}`)),
        ];

        /** The paths that the steps change, and those above and below. */
        const touched = mounts.flatMap((mount) =>
          [...paths]
            .filter((at) => steps.some(({ path }) => `${path}/`.startsWith(`${at}/`) || at.startsWith(`${path}/`)))
            .map((at) => `${mount}://${encode(at)}`),
        );

        const sets: SetConfig[] = [
          { name: "some", resources: plain.filter((_, at) => at % 3 === 0) },
          ...plain.slice(0, 6).map((uri, at) => ({ name: `only-${at}`, resources: [uri, "nowhere://x"] })),
        ];
        const setUris = ["set://", "zed://prompt-library", "set://none", ...sets.map(({ name }) => `set://${name}`)];

        for (const caller of callers) {
          const rules = hiddenFrom(caller);
          const call: Call = { caller, signal: new AbortController().signal };
          const models = new Map(plans.map((one) => [one.name, createModel(one)]));
          const real = createTestServer(plans, policy, pageSize, () => true, sets);
          // Hidden resources do not exist here. A hidden root above visible entries stays hidden.
          const bare = createTestServer(
            plans.filter(({ name }) => !rules.mounts.includes(name)),
            { maySee: (_, mount, at) => at.path !== "" || !isHidden(rules, mount, "") },
            pageSize,
            (mount, at) => !isHidden(rules, mount, at),
            sets,
          );
          const asked = [...uris, ...setUris];
          expect(await askAll(real.pressmark, asked, bases, call)).toEqual(
            await askAll(bare.pressmark, asked, bases, call),
          );
          expect(await askPrompts(real, call)).toEqual(await askPrompts(bare, call));
          const some = plain.filter((_, at) => at % 10 === 0);
          expect(await askTools(real, some, setUris, call)).toEqual(await askTools(bare, some, setUris, call));
          const gathered = ["set://some", "set://only-0", ...some.slice(0, 6)];
          expect(await askGather(real, gathered, call)).toEqual(await askGather(bare, gathered, call));
          for (const filter of [{ uris, list: true }, { uris: plain }, { list: true }, { uris: setUris, list: true }]) {
            const taken = steps.map((step) => {
              const mount = mounts[step.mount % mounts.length] as string;
              return { mount, effects: effectsOf(models.get(mount) as Model, step) };
            });
            const [ours, theirs] = [real, bare].map((each) => watch(each, filter, taken, caller));
            expect(await ours).toEqual(await theirs);
          }
          const again = [...bases, ...touched, ...setUris];
          expect(await askAll(real.pressmark, again, bases, call)).toEqual(
            await askAll(bare.pressmark, again, bases, call),
          );
        }
      }),
      { numRuns: 60 },
    );
  }, 180_000);
});
