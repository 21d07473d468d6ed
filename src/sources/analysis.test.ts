import { copyFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ResourceError } from "../errors.ts";
import type { Source } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { sourceContract, sweepFaults } from "../testing/index.ts";
import { refusal } from "../testing/refusal.ts";
import { openAnalysis } from "./analysis.ts";
import { createAnalysisStore } from "./analysis/create-store.ts";
import { createFile } from "./analysis/sqlite-database.ts";
import type { AnalysisStore } from "./analysis/store.ts";
import { useServers } from "./analysis/test-server.ts";
import { optionsFor, question, resultOf, temporaryFile } from "./analysis/test-results.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const open = useServers();
const idOf = (count: number) => count.toString(16).padStart(44, "0");
const known = Object.fromEntries([1, 2, 3].map((count) => [`results/${idOf(count)}`, undefined]));

/** A file with these results, created once, because durable writes are slow. */
let seeded: Promise<string> | undefined;
async function seed(): Promise<string> {
  const path = temporaryFile();
  const { runtime } = createClock();
  let count = 0;
  const options = optionsFor({ path });
  const database = createFile(path, runtime);
  const store = createAnalysisStore({ ...options, database, newId: () => idOf((count += 1)) });
  const source = openAnalysis(options, runtime, store);
  const call = { caller: { id: "test" }, signal: new AbortController().signal };
  for (const prompt of Object.keys(known))
    await source.actions!["store_analysis"]!.run({ ...question, prompt, result: resultOf() }, call);
  await source.close?.();
  return path;
}
afterAll(async () => {
  if (seeded) rmSync(dirname(await seeded), { recursive: true });
});

let watched = 0;
let changing: ReturnType<typeof open>;
sourceContract("analysis", {
  abilities: ["stat", "children", "templates", "complete", "watch"],
  content: { statistics: undefined, ...known },
  async open() {
    const path = temporaryFile();
    copyFileSync(await (seeded ??= seed()), path);
    changing = open({ path });
    return changing.source;
  },
  async change() {
    watched += 1;
    await changing.act("store_analysis", { ...question, prompt: `watched ${watched}`, result: resultOf() });
    return [{ kind: "changed", path: "statistics" }];
  },
  expansions: [
    { at: { path: "results", query: { task: "basic" } } },
    { at: { path: "results", query: { limit: "2", format: "markdown" } } },
    { at: { path: `results/${idOf(1)}`, query: { format: "markdown" } } },
    ...["consensus", "votes", "flow", "events"].map((section) => ({ at: { path: `results/${idOf(2)}/${section}` } })),
    { at: { path: "statistics", query: { format: "markdown" } } },
  ],
  completions: [
    { template: "results{?task,after,limit,format}", variable: "task", value: "pre", expected: "premium" },
    { template: "results/{id}{?format}", variable: "id", value: "0000", expected: idOf(3) },
    { template: "results/{id}/{section}{?format}", variable: "section", value: "", expected: "votes" },
  ],
});

describe("a stored result", () => {
  it("is found by the same question, whatever its order, width and spelling", async () => {
    const { find, keep } = open();
    const requested = {
      prompt: "ＡＰＩ の設定は？",
      providers: ["openai", "anthropic"],
      models: ["b", "a"],
      options: { depth: 3, mode: "parallel" },
    };
    const stored = await keep(requested);
    const found = await find({
      prompt: "API の設定は?",
      providers: ["anthropic", "openai", "openai"],
      models: ["a", "b"],
      options: { mode: "parallel", depth: 3 },
    });
    expect(found).toMatchObject({ status: "hit", id: stored["id"], key: stored["key"], stale: false });
    expect(found["result"]).toEqual(resultOf());
    for (const other of [
      { prompt: "API の設定は？。" },
      { taskType: "simple" },
      { options: { depth: 4, mode: "parallel" } },
      { providers: ["openai"] },
      { models: ["a"] },
    ])
      expect(await find({ ...requested, ...other, claim: false })).toMatchObject({ status: "miss" });
  });

  it("has a key that anyone can compute: SHA-256 of canonical JSON", async () => {
    const { keep } = open();
    const { key } = await keep({
      prompt: "ｶﾞ",
      grounding: [
        { uri: "x://b", version: "2" },
        { uri: "x://a", version: "1" },
      ],
    });
    const canonical =
      '{"grounding":[["x://a","1"],["x://b","2"]],"models":[],"options":{"taskType":"basic"},"prompt":"ガ","providers":[]}';
    expect(key).toBe(Buffer.from(await crypto.subtle.digest("SHA-256", Buffer.from(canonical))).toString("hex"));
  });

  it.each([
    ["simple", 15 * minuteMs],
    ["basic", hourMs],
    ["premium", 6 * hourMs],
    ["critical", 24 * hourMs],
  ])("of %s tasks is fresh for its own time, and ttlMs is the remaining time", async (taskType, ttlMs) => {
    const { keep, find, json, clock } = open();
    const { id } = await keep({ taskType });
    await clock.advance(minuteMs);
    expect(await find({ taskType })).toMatchObject({ status: "hit", ttl_ms: ttlMs - minuteMs });
    for (const path of [`results/${id}`, `results/${id}/votes`])
      expect(await json(`analysis://${path}`)).toMatchObject({ ttlMs: ttlMs - minuteMs, scope: "private" });
    await clock.advance(ttlMs - minuteMs);
    expect(await find({ taskType, claim: false })).toMatchObject({ status: "miss" });
    expect(await json(`analysis://results/${id}`)).toMatchObject({ ttlMs: 0, value: { stale: true } });
  });

  it("below the gate is stored for five minutes at most, and then not even stale", async () => {
    const { keep, find, clock, json } = open();
    const cases = {
      confidence: { confidence: 0.69 },
      consensus: {
        agreement: 0.5,
        votes: [
          ["a", "yes"],
          ["b", "no"],
        ],
      },
      providers: { votes: [["a", "Use a queue between the two services."]] },
    } as const;
    for (const [why, given] of Object.entries(cases)) {
      const stored = await keep({ prompt: why, taskType: "critical", result: resultOf(given) });
      expect(stored).toMatchObject({ status: "stored", ttl_ms: 5 * minuteMs, quality: { passed: false } });
      expect((stored["quality"] as { reasons: string[] }).reasons.join()).toContain(why);
    }
    await clock.advance(5 * minuteMs);
    for (const why of Object.keys(cases))
      expect(await find({ prompt: why, taskType: "critical", claim: false, acceptStale: true })).toMatchObject({
        status: "miss",
      });
    await clock.advance(minuteMs);
    expect((await json("analysis://results?limit=9")).value).toEqual({ results: [] });
  });

  it("is rejected with the name of the wrong field", async () => {
    const { act, pressmark, call } = open();
    const whole = { ...question, result: resultOf() };
    const [vote] = resultOf().llm_votes;
    const wrong: readonly (readonly [string, object])[] = [
      ["result.llm_votes[0].provider", { result: { ...whole.result, llm_votes: [{ ...vote, provider: 7 }] } }],
      [
        "result.consensus.confidence",
        { result: { ...whole.result, consensus: { ...whole.result.consensus, confidence: 70 } } },
      ],
      ["result.llm_votes", { result: { ...whole.result, llm_votes: [] } }],
      ["result.total_cost", { result: { ...whole.result, total_cost: "much" } }],
      ["taskType", { taskType: "premum" }],
      ["prompt", { prompt: "" }],
      ["options.depth", { options: { depth: 9 } }],
      ["options.taskType", { options: { taskType: "critical" } }],
      ["options.minProviders", { options: { minProviders: 4, maxProviders: 2 } }],
      ["grounding[0].uri", { grounding: [{}] }],
      ["promt", { promt: "x" }],
      ["result", { result: undefined }],
      ["lease", { result: undefined, failed: "no" }],
    ];
    for (const [field, change] of wrong) {
      const { message, details } = await refusal(act("store_analysis", { ...whole, ...change }), ["invalid"], field);
      expect(message).toContain(`store_analysis: "${field}"`);
      expect(details?.["fields"]).toHaveProperty([field]);
    }
    expect((await refusal(act("find_analysis", "x"), ["invalid"], "x")).message).toContain("it must be an object");
    expect((await pressmark.list({}, call)).items.map(({ uri }) => uri)).toEqual(["analysis://statistics"]);
  });

  it("has an id that cannot be guessed, and newer ids sort first", async () => {
    const { keep, pressmark, call, clock } = open();
    const ids: unknown[] = [];
    for (const prompt of ["one", "two", "six"]) {
      ids.unshift((await keep({ prompt }))["id"]);
      await clock.advance(10);
    }
    expect((await pressmark.list({}, call)).items.map(({ uri }) => uri)).toEqual([
      ...ids.map((id) => `analysis://results/${id}`),
      "analysis://statistics",
    ]);
    const random = ids.map((id) => String(id).slice(12));
    expect(random.every((each) => /^[0-9a-f]{32}$/.test(each))).toBe(true);
    expect(new Set(random).size).toBe(3);
  });

  it("keeps its id when it is stored again, and this is reported", async () => {
    const { keep, json } = open();
    const { id } = await keep();
    expect(await keep({ result: resultOf({ content: "Use none." }) })).toMatchObject({ id });
    const { value } = await json(`analysis://results/${id}/events`);
    expect(value.events.map(({ what }: { what: string }) => what)).toEqual(["stored", "stored again"]);
    expect((await json(`analysis://results/${id}/consensus`)).value.content).toBe("Use none.");
  });

  it("stays within the size limit: results that expire next are dropped first", async () => {
    const { keep, json } = open({ options: { maxBytes: 1024 ** 2 } });
    const large = resultOf({
      content: "x".repeat(100_000),
      votes: [
        ["a", "x"],
        ["b", "x"],
      ],
    });
    await keep({ prompt: "first", taskType: "critical", result: large });
    for (let count = 0; count < 12; count += 1)
      await keep({ prompt: `later ${count}`, taskType: "simple", result: large });
    const { value } = await json("analysis://statistics");
    expect(value.bytes).toBeLessThanOrEqual(1024 ** 2);
    const { value: recent } = await json("analysis://results?task=critical");
    expect(recent.results).toHaveLength(1);
    await refusal(
      keep({
        result: resultOf({
          content: "x".repeat(999_999),
          votes: [
            ["a", "y".repeat(999_999)],
            ["b", "z".repeat(999_999)],
          ],
        }),
      }),
      ["too-large"],
      "a large result",
    );
  });

  it("is replaced by a later one with the same number, and never confused with it", async () => {
    const { keep, find, json } = open({ placeOf: () => 7 });
    await keep({ prompt: "one" });
    expect(await find({ prompt: "two", claim: false })).toMatchObject({ status: "miss" });
    const { id } = await keep({ prompt: "two" });
    expect(await find({ prompt: "one", claim: false })).toMatchObject({ status: "miss" });
    expect(await find({ prompt: "two" })).toMatchObject({ status: "hit", id });
    expect((await json("analysis://statistics")).value.results).toBe(1);
  });

  it("is in a file for its owner only, and in no existing file", async () => {
    const { keep, path } = open();
    await keep();
    for (const ending of ["", "-wal", "-shm"]) expect(statSync(path + ending).mode & 0o777).toBe(0o600);
    const other = temporaryFile();
    writeFileSync(
      other,
      "a letter that happens to be here, and is long enough to look like something of one's own".repeat(20),
    );
    const { keep: keepThere } = open({ path: other });
    expect((await refusal(keepThere(), ["unavailable"], other)).message).toContain('choose another "path"');
  });
});

it("opens nothing before the first call", async () => {
  const { path } = open();
  expect(() => statSync(path)).toThrow(/ENOENT/);
});

it("cannot be written if the config forbids it", async () => {
  const { find, pressmark, call } = open({ options: { store: false } });
  expect((await pressmark.actions?.(call))?.map(({ name }) => name)).toEqual(["find_analysis"]);
  expect(await find()).toMatchObject({ status: "miss" });
});

it("every fault of the store is reported, and everything works again afterwards", async () => {
  const paths: string[] = [];
  const { runtime } = createClock();
  const call = { caller: { id: "test" }, signal: new AbortController().signal };
  let source: Source;

  async function askAll(): Promise<void> {
    const { find_analysis: find, store_analysis: keep } = source.actions ?? {};
    const requested = { ...question, claim: true, acceptStale: false, waitMs: 0 };
    await find?.run(requested, call);
    await keep?.run({ ...question, result: resultOf() }, call);
    const { items } = await source.list({ limit: 10 }, call);
    for (const { path } of items) await source.read({ path }, call);
    await source.stat?.({ path: items[0]?.path ?? "" }, call);
    await source.children?.({ path: "results" }, { limit: 10 }, call);
    await source.read({ path: "results", query: { task: "basic" } }, call);
  }

  const failed = await sweepFaults<AnalysisStore>({
    open() {
      paths.push(temporaryFile());
      return createAnalysisStore({
        database: createFile(paths.at(-1) ?? "", runtime),
        maxBytes: 1e9,
        leaseMs: 300_000,
      });
    },
    async run(store) {
      source = openAnalysis(optionsFor({ path: paths.at(-1) ?? "" }), runtime, store);
      await askAll();
    },
    async recovered() {
      await askAll();
      await source.close?.();
    },
    faults: [() => new ResourceError("unavailable", "the file is gone")],
  });
  for (const path of paths) rmSync(dirname(path), { recursive: true });
  expect(failed).toBeGreaterThan(8);
});
