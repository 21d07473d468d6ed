/**
 * No door reveals what read refuses: a house with hidden things answers every question exactly like a house in which those
 * things do not exist.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { notFound, ResourceError, toResourceError } from "../errors.ts";
import { compareAddresses } from "../lib/address-order.ts";
import { createReadingTools } from "../protocol/tools/reading-tools.ts";
import type { Asked } from "../protocol/tools.ts";
import { directoryType } from "../resources.ts";
import type { Call, Caller, Change, Page, Resources, WatchFilter } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import type { SetConfig } from "../config/sets.ts";
import { createHouseSets } from "../server/sets/house-sets.ts";
import { createSetPrompts } from "../server/sets/set-prompts.ts";
import type { Entry, ListAsk, Part, Source, SourceChange, SourceSkill } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import type { Policy } from "./policy.ts";

/** A text, a directory, or a collection: its parts stand at other paths. */
type Node = { kind: "text"; text: string } | { kind: "directory" } | { kind: "collection"; of: readonly string[] };

interface MountPlan {
  readonly name: string;
  readonly nodes: Readonly<Record<string, Node>>;
  readonly sourcePage: number;
  readonly lists: boolean;
  readonly tellsReveals: boolean;
  readonly statless: boolean;
}

/** What is hidden from a caller: whole mounts, their roots alone, or paths with or without what is below. */
interface Hidden {
  readonly mounts: readonly string[];
  readonly roots: readonly string[];
  readonly paths: readonly { readonly mount: string; readonly path: string; readonly below: boolean }[];
}

interface Plan {
  readonly mounts: readonly MountPlan[];
  readonly hidden: readonly Hidden[];
  readonly pageSize: number;
  readonly steps: readonly Step[];
}

type Step = { readonly mount: number; readonly act: "write" | "remove" | "lose"; readonly path: string };

const segment = fc.constantFrom("a", "b", "c d", "é", "a-b", "x%y", "q?");
const path = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join("/"));
const words = fc.array(fc.constantFrom("tea", "cup", "milk"), { maxLength: 4 }).map((texts) => texts.join(" "));
const node: fc.Arbitrary<Node> = fc.oneof(
  { weight: 5, arbitrary: words.map((text) => ({ kind: "text" as const, text })) },
  { weight: 2, arbitrary: fc.constant({ kind: "directory" as const }) },
  { weight: 1, arbitrary: fc.array(path, { maxLength: 3 }).map((of) => ({ kind: "collection" as const, of })) },
);
const names = ["one", "two", "six"];
const mountPlan = fc.record({
  nodes: fc.dictionary(path, node, { maxKeys: 14, noNullPrototype: true }),
  sourcePage: fc.integer({ min: 1, max: 6 }),
  /** Now and then a mount cannot be listed. */
  lists: fc.integer({ min: 0, max: 5 }).map((luck) => luck > 0),
  tellsReveals: fc.boolean(),
  statless: fc.boolean(),
});
const anyHidden: fc.Arbitrary<Hidden> = fc.record({
  mounts: fc.subarray(names, { maxLength: 1 }),
  roots: fc.subarray(names, { maxLength: 1 }),
  paths: fc.array(fc.record({ mount: fc.constantFrom(...names), path, below: fc.boolean() }), { maxLength: 12 }),
});
const plan: fc.Arbitrary<Plan> = fc.record({
  mounts: fc
    .array(mountPlan, { minLength: 1, maxLength: 3 })
    .map((plans) => plans.map((one, at) => ({ ...one, name: names[at] as string }))),
  hidden: fc.array(anyHidden, { minLength: 2, maxLength: 2 }),
  pageSize: fc.integer({ min: 1, max: 4 }),
  steps: fc.array(
    fc.record({
      mount: fc.nat(2),
      act: fc.constantFrom("write", "write", "remove", "remove", "lose"),
      path,
    }) as fc.Arbitrary<Step>,
    { maxLength: 6 },
  ),
});

function isHidden({ mounts, roots, paths }: Hidden, mount: string, at: string): boolean {
  if (mounts.includes(mount) || (at === "" && roots.includes(mount))) return true;
  return paths.some(
    (rule) => rule.mount === mount && (rule.path === at || (rule.below && at.startsWith(`${rule.path}/`))),
  );
}

/** All that is in a mount, hidden or not: whatever has something below it is a directory. */
type Model = Map<string, Node>;

function createModel({ nodes }: MountPlan): Model {
  const model: Model = new Map([["", { kind: "directory" }]]);
  for (const [at, one] of Object.entries(nodes)) if (!model.has(at)) model.set(at, one);
  for (const at of Object.keys(nodes)) for (const above of ancestorsOf(at)) model.set(above, { kind: "directory" });
  return model;
}

interface Effect {
  readonly change: SourceChange;
  readonly node?: Node;
}

/** What a step does to a mount. */
function effectsOf(model: Model, { act, path: at }: Step): Effect[] {
  if (act === "lose") return [{ change: { kind: "lost" } }];
  const effects: Effect[] = [];
  if (act === "write") {
    const above = ancestorsOf(at);
    if (
      model.get(at)?.kind === "directory" ||
      above.some((other) => (model.get(other)?.kind ?? "directory") !== "directory")
    )
      return [];
    for (const other of above) if (!model.has(other)) put(other, { kind: "directory" });
    put(at, { kind: "text", text: "tea tea" });
  } else {
    for (const gone of [...model.keys()].sort(compareAddresses).toReversed()) {
      if (gone !== at && !gone.startsWith(`${at}/`)) continue;
      model.delete(gone);
      effects.push({ change: { kind: "gone", path: gone } });
    }
  }
  return effects;

  function put(where: string, one: Node): void {
    effects.push({ change: { kind: model.has(where) ? "changed" : "appeared", path: where }, node: one });
    model.set(where, one);
  }
}

/** From the top, without the mount itself. */
function ancestorsOf(at: string): string[] {
  const segments = at.split("/");
  return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join("/"));
}

/** A source of these nodes alone, which says what it is told to say when they change. */
function createTree(mount: MountPlan, exists: (path: string) => boolean) {
  const { sourcePage, lists, tellsReveals, statless } = mount;
  const nodes: Model = new Map([...createModel(mount)].filter(([at]) => exists(at)));
  const listeners = new Set<(change: SourceChange) => void>();
  const sorted = () => [...nodes.keys()].sort(compareAddresses);

  function toEntry(at: string): Entry {
    const found = nodes.get(at);
    if (found === undefined) throw notFound(at);
    if (found.kind === "directory") return { path: at, mimeType: directoryType };
    return found.kind === "text" ? { path: at, mimeType: "text/plain", size: found.text.length } : { path: at };
  }

  /** Pages as the source likes them: never more than its own size. */
  function toPage(paths: readonly string[], { cursor, limit }: ListAsk): Page<Entry> {
    const rest = paths.filter((at) => cursor === undefined || compareAddresses(at, cursor) > 0);
    const given = rest.slice(0, Math.min(limit, sourcePage));
    const last = given.at(-1);
    return { items: given.map(toEntry), ...(last !== undefined && given.length < rest.length && { next: last }) };
  }

  /** Every text makes a skill of the directory it is in, and all texts there and below belong to it. */
  const manifests = () => sorted().filter((at) => nodes.get(at)?.kind === "text");
  function toSkill(at: string): SourceSkill {
    const inside = at.slice(0, at.lastIndexOf("/") + 1);
    const files = sorted().flatMap((other) => {
      const found = nodes.get(other);
      if (found?.kind !== "text" || !other.startsWith(inside)) return [];
      return [{ path: other, digest: `sha256:${found.text}`, size: found.text.length }];
    });
    return { path: at, frontMatter: { name: at, description: at }, files };
  }

  const source: Source = {
    async list(ask) {
      if (!lists) throw new ResourceError("unavailable", "away");
      const files = sorted().filter((at) => nodes.get(at)?.kind !== "directory");
      return toPage(files, ask);
    },
    async read({ path: at, query }): Promise<readonly Part[]> {
      const found = query ? undefined : nodes.get(at);
      if (found === undefined) throw notFound(at);
      if (found.kind === "directory") throw new ResourceError("directory", "a directory");
      if (found.kind === "text") return [{ body: { text: found.text } }];
      return found.of.flatMap((other) => (nodes.has(other) ? [{ at: { path: other }, body: { text: other } }] : []));
    },
    ...(!statless && {
      async stat({ path: at, query }) {
        if (query) throw notFound(at);
        return toEntry(at);
      },
    }),
    async children({ path: at, query }, ask) {
      if (query || nodes.get(at)?.kind !== "directory") throw notFound(at);
      return toPage(
        sorted().filter((other) => other !== "" && other.slice(0, Math.max(0, other.lastIndexOf("/"))) === at),
        ask,
      );
    },
    templates: [{ template: "{+path}", name: "any" }],
    async complete({ value }) {
      return sorted()
        .filter((at) => at !== "" && at.startsWith(value))
        .map((at) =>
          tellsReveals ? { value: at, reveals: { path: at } } : { value: at.replace(/[%?]/g, encodeURIComponent) },
        );
    },
    async search({ text, limit, within = "" }) {
      const hits = sorted().flatMap((at) => {
        const found = nodes.get(at);
        const isWithin = within === "" || at === within || at.startsWith(`${within}/`);
        const count = found?.kind === "text" && isWithin ? found.text.split(text).length - 1 : 0;
        return count > 0 ? [{ entry: toEntry(at), score: count, snippet: text }] : [];
      });
      return hits.sort((left, right) => right.score - left.score).slice(0, limit);
    },
    async skills(ask) {
      const found = manifests().map(toSkill);
      const rest = found.filter(({ path: at }) => ask.cursor === undefined || compareAddresses(at, ask.cursor) > 0);
      const given = rest.slice(0, Math.min(ask.limit, sourcePage));
      return { items: given, ...(given.length < rest.length && { next: given.at(-1)?.path ?? "" }) };
    },
    async skill({ path: at, query }) {
      if (query || !manifests().includes(at)) throw notFound(at);
      return toSkill(at);
    },
    async watch({ signal }) {
      const queue: SourceChange[] = [];
      let wake: (() => void) | undefined;
      const hear = (change: SourceChange) => {
        queue.push(change);
        wake?.();
      };
      listeners.add(hear);
      signal.addEventListener("abort", () => {
        listeners.delete(hear);
        wake?.();
      });
      return {
        async *[Symbol.asyncIterator]() {
          while (listeners.has(hear)) {
            const change = queue.shift();
            if (change) yield change;
            else
              await new Promise<void>((resolve) => {
                wake = resolve;
              });
          }
        },
      };
    },
  };

  return {
    source,
    take({ change, node: one }: Effect): void {
      if (change.kind !== "lost") {
        if (!exists(change.path)) return;
        if (one) nodes.set(change.path, one);
        else nodes.delete(change.path);
      }
      for (const hear of listeners) hear(change);
    },
  };
}

function createHouse(
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
  const inner = createResources({
    mounts,
    policy,
    tools: clock.tools,
    cursorKey: new Uint8Array(32),
    pageSize,
  });
  const chosen = createHouseSets({
    resources: inner,
    policy,
    mounts: () => mounts.map((mount) => ({ mount })),
    configured: () => ({ sets, folder: "/", zed: true }),
    stateFolder: "/nowhere",
    project: {},
    tools: clock.tools,
    live: false,
  });
  const house = chosen.resources;
  const prompts = createSetPrompts({ ...chosen, others: [] });
  const seenBy = (caller: Caller) => mounts.filter(({ name }) => policy.maySee(caller, name, { path: "" }));
  const reading = createReadingTools({ resources: house, server: "pressmark", mounts: seenBy });
  return { house, clock, trees, reading, prompts, sets };
}

/** What a model is told by every tool. */
async function askTools(
  { reading }: Pick<ReturnType<typeof createHouse>, "reading">,
  uris: readonly string[],
  call: Call,
) {
  const asked: Asked = { ...call, inputResponses: undefined, requestState: undefined, clientCapabilities: {} };
  const answers = new Map<string, unknown>();
  for (const { name, description, call: use } of reading) {
    answers.set(name, typeof description === "function" ? description(call.caller) : description);
    const asks: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
      search_resources: [{ query: "tea" }, ...uris.map((within) => ({ query: "tea", within }))],
      list_resources: [{ limit: 500 }, ...uris.map((within) => ({ within, limit: 500 }))],
      read_resource: uris.flatMap((uri) => [{ uri }, { uri, lines: "1-1" }, { uri: `${uri}x` }]),
      gather_context: [{ task: "tea" }, { task: "milk in the cup", budget: 200, include: uris.slice(0, 50) }],
    };
    for (const args of asks[name] ?? [])
      answers.set(`${name} ${JSON.stringify(args)}`, await outcome(use(args, asked)));
  }
  return answers;
}

/** What a person is shown of every set, and what it comes to. */
async function askPrompts(
  { prompts, sets }: Pick<ReturnType<typeof createHouse>, "prompts" | "sets">,
  call: Call,
): Promise<unknown> {
  const asked: Asked = { ...call, inputResponses: undefined, requestState: undefined, clientCapabilities: {} };
  const said = async (name: string) => (await prompts.find(name, call))?.get({}, asked);
  const listed = (await prompts.list(call)).map(({ name, title, description }) => ({ name, title, description }));
  return { listed, answers: await Promise.all(sets.map(({ name }) => outcome(said(name)))) };
}

/** An answer, or an error to the letter. */
async function outcome(asked: Promise<unknown>): Promise<unknown> {
  try {
    return await asked;
  } catch (cause) {
    const { kind, message, details, passing } = toResourceError(cause);
    return { kind, message, details, passing };
  }
}

/** Every page as it is, with whether there is another in place of the cursor. */
async function pages(ask: (cursor: { cursor?: string }) => Promise<Page<unknown>>) {
  const all: unknown[] = [];
  for (let cursor: { cursor?: string } | undefined = {}; cursor !== undefined;) {
    const { next, ...page }: Page<unknown> = await ask(cursor);
    all.push({ ...page, more: next !== undefined });
    cursor = next === undefined ? undefined : { cursor: next };
  }
  return all;
}

/** The answers of a house at every door, by question. */
async function askAll(house: Resources, uris: readonly string[], mounts: readonly string[], call: Call) {
  const answers = new Map<string, unknown>();
  const note = async (question: string, asked: Promise<unknown>) => answers.set(question, await outcome(asked));
  await note(
    "list",
    pages((cursor) => house.list(cursor, call)),
  );
  await note("templates", house.templates({}, call));
  await note(
    "skills",
    pages(async (cursor) => (await house.skills?.(cursor, call)) ?? { items: [] }),
  );
  for (const uri of uris) {
    await note(`read ${uri}`, house.read(uri, call));
    await note(`stat ${uri}`, house.stat(uri, call));
    await note(`skill ${uri}`, Promise.resolve(house.skill?.(uri, call)));
    await note(
      `children ${uri}`,
      pages((cursor) => house.children(uri, cursor, call)),
    );
    await note(`search within ${uri}`, house.search({ text: "tea", limit: 3, within: uri }, call));
    await note(`complete ${uri}`, house.complete({ template: uri, variable: "path", value: "", given: {} }, call));
  }
  for (const limit of [1, 2, 5, 100]) await note(`search ${limit}`, house.search({ text: "tea", limit }, call));
  for (const mount of mounts)
    for (const value of ["", "a", "c"])
      await note(
        `complete ${mount} ${value}`,
        house.complete({ template: `${mount}://{+path}`, variable: "path", value, given: {} }, call),
      );
  return answers;
}

/** What a watch acknowledges, and what it says after each step, in any order. */
async function watch(
  { house, clock, trees }: ReturnType<typeof createHouse>,
  filter: WatchFilter,
  steps: readonly { readonly mount: string; readonly effects: readonly Effect[] }[],
  caller: Caller,
) {
  const asking = new AbortController();
  const watched = await house.watch(filter, { caller, signal: asking.signal });
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

const encode = (at: string) => at.split("/").map(encodeURIComponent).join("/");
const overEncode = (at: string) => at.replace(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);

describe("no door reveals what read refuses", () => {
  it("whatever is there, whoever asks, and whatever is hidden from them", async () => {
    await fc.assert(
      fc.asyncProperty(plan, async ({ mounts: plans, hidden, pageSize, steps }) => {
        const mounts = plans.map(({ name }) => name);
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

        const sets: SetConfig[] = [
          { name: "some", resources: plain.filter((_, at) => at % 3 === 0) },
          ...plain.slice(0, 6).map((uri, at) => ({ name: `only-${at}`, resources: [uri, "nowhere://x"] })),
        ];
        const setUris = ["set://", "zed://prompt-library", "set://none", ...sets.map(({ name }) => `set://${name}`)];

        for (const caller of callers) {
          const rules = hiddenFrom(caller);
          const call: Call = { caller, signal: new AbortController().signal };
          const models = new Map(plans.map((one) => [one.name, createModel(one)]));
          const real = createHouse(plans, policy, pageSize, () => true, sets);
          // What is hidden does not exist here. A root that is hidden while things below it are not stays hidden.
          const bare = createHouse(
            plans.filter(({ name }) => !rules.mounts.includes(name)),
            { maySee: (_, mount, at) => at.path !== "" || !isHidden(rules, mount, "") },
            pageSize,
            (mount, at) => !isHidden(rules, mount, at),
            sets,
          );
          const asked = [...uris, ...setUris];
          expect(await askAll(real.house, asked, mounts, call)).toEqual(await askAll(bare.house, asked, mounts, call));
          expect(await askPrompts(real, call)).toEqual(await askPrompts(bare, call));
          const some = plain.filter((_, at) => at % 10 === 0);
          expect(await askTools(real, some, call)).toEqual(await askTools(bare, some, call));
          for (const filter of [{ uris, list: true }, { uris: plain }, { list: true }, { uris: setUris, list: true }]) {
            const taken = steps.map((step) => {
              const mount = mounts[step.mount % mounts.length] as string;
              return { mount, effects: effectsOf(models.get(mount) as Model, step) };
            });
            const [ours, theirs] = [real, bare].map((each) => watch(each, filter, taken, caller));
            expect(await ours).toEqual(await theirs);
          }
          expect(await askAll(real.house, asked, mounts, call)).toEqual(await askAll(bare.house, asked, mounts, call));
        }
      }),
      { numRuns: 60 },
    );
  }, 60_000);
});
