import { expect, it } from "vitest";
import { refusal } from "../../testing/refusal.ts";
import { measureAgreement } from "./agreement.ts";
import { answerLanguageOf } from "./markdown.ts";
import { useServers } from "./test-server.ts";
import { resultOf } from "./test-results.ts";

const open = useServers();
const titles = ({ results }: { results: { title: string }[] }) => results.map(({ title }) => title);

const japanese = "決済サービスと在庫サービスの間にはキューを置くべきです。";
const close = "決済サービスと在庫サービスの間には、メッセージキューを置くべきです。";
const far = "データベースを共有するのがよいでしょう。";

it("agreement is measured in Japanese, where splitting at spaces finds no words", () => {
  const { recomputed, producer, votes, method } = measureAgreement(
    resultOf({
      content: japanese,
      agreement: 0,
      votes: [
        ["a", close],
        ["b", far],
        ["c", japanese],
      ],
    }),
  );
  const [near, distant, same] = votes.map((vote) => vote.recomputed);
  expect(near).toBeGreaterThan(0.75);
  expect(distant).toBeLessThan(0.3);
  expect(same).toBe(1);
  expect(producer).toBe(0);
  expect(recomputed).toBeCloseTo(((near ?? 0) + (distant ?? 0) + (same ?? 0)) / 3);
  expect(method).toMatch(/Dice.*segments.*bigrams/);
});

it("agreement is measured in English, whatever the case, endings and character width", () => {
  const { votes } = measureAgreement(
    resultOf({
      content: "Queues decouple services",
      votes: [
        ["a", "ＱＵＥＵＥＳ DECOUPLE SERVICES"],
        ["b", "Share one table"],
      ],
    }),
  );
  expect(votes.map((vote) => vote.recomputed)).toEqual([1, 0]);
});

it("a Japanese result without the producer's measure passes by the measure computed here", async () => {
  const result = resultOf({
    content: japanese,
    agreement: 0,
    votes: [
      ["a", japanese],
      ["b", close],
    ],
  });
  expect(await open().keep({ result })).toMatchObject({ quality: { passed: true } });
  const strict = open({ options: { gate: { by: "producer" } } });
  expect(await strict.keep({ result })).toMatchObject({ quality: { passed: false, consensus: 0 } });
});

it("each section is JSON, with its own content", async () => {
  const { keep, json } = open();
  const { id } = await keep();
  const section = async (name: string) => (await json(`analysis://results/${id}/${name}`)).value;
  const { consensus, llm_votes, flow_details, debug, total_cost, processing_time_ms } = resultOf();
  expect(await section("consensus")).toMatchObject({ id, ...consensus, quality: { passed: true } });
  expect(await section("votes")).toMatchObject({
    llm_votes,
    agreement: { producer: expect.closeTo(0.8), recomputed: 1 },
  });
  expect(await section("flow")).toEqual({ id, flow_details, debug, total_cost, processing_time_ms });
  expect((await section("events")).events).toMatchObject([{ what: "stored" }]);
  const troubled = { ...debug, tier_escalated: true, provider_errors: { openai: "overloaded" } };
  const { id: rough } = await keep({ prompt: "rough", result: { ...resultOf(), debug: troubled } });
  expect((await json(`analysis://results/${rough}/events`)).value.events).toMatchObject([
    { what: "provider failed", detail: '["openai","overloaded"]' },
    { what: "tier escalated" },
    { what: "stored" },
  ]);
});

it("is rendered in the language of the result", async () => {
  const { keep, text } = open();
  const { id } = await keep({ prompt: "間に何を置く?", result: resultOf({ content: japanese }) });
  const page = await text(`analysis://results/${id}?format=markdown`);
  expect(page).toContain("# 間に何を置く?");
  expect(page).toContain(`## 合意\n\n> ${japanese}`);
  expect(page).toContain("## 各モデルの回答");
  const { id: english } = await keep({ prompt: "What between?" });
  expect(await text(`analysis://results/${english}/votes?format=markdown`)).toContain("## Votes");
  expect(answerLanguageOf("Die Lösung heißt カ, sagt man in einem langen deutschen Satz.")).toBe("en");
});

it("text of a model cannot be mistaken for text of the page", async () => {
  const { keep, text } = open();
  const content = "done\n# A heading of its own\r\n| a | table |\u2028## And another";
  const { id } = await keep({
    prompt: "# not\n a | heading [link](javascript:x)",
    result: {
      ...resultOf({
        content,
        votes: [
          ["a|b", "x"],
          ["c\nd", "```"],
        ],
      }),
      flow_details: { user_query: "q", llm_interactions: ["```\n# out"] },
    },
  });
  const page = await text(`analysis://results/${id}?format=markdown`);
  const headings = page.split("\n").filter((line) => line.startsWith("#"));
  expect(headings).toEqual([
    String.raw`# \# not a \| heading \[link\](javascript:x)`,
    "## Question",
    "## Consensus",
    "### Reasoning",
    "## Votes",
    String.raw`### a\|b / a\|b-large`,
    "### c d / c d-large",
    "## How it came about",
    "### Step 1",
    "# out",
    "## Events",
  ]);
  expect(page).toContain("````\n```\n# out\n````");
  expect(page).toContain(String.raw`| a\|b | a\|b-large |`);
});

it("any number of Markdown characters in a model's text is readable", async () => {
  const { keep, text } = open();
  const steps = ["`a".repeat(300_000)];
  const result = { ...resultOf(), flow_details: { user_query: "How?", llm_interactions: steps } };
  const { id } = await keep({ result });
  expect(await text(`analysis://results/${id}/flow?format=markdown`)).toContain("\n```\n`a`a");
});

it("the latest results of a task type come in pages that continue each other", async () => {
  const { keep, json, text, clock, pressmark, call } = open();
  for (let count = 0; count < 5; count += 1) {
    await keep({ prompt: `question ${count}`, taskType: count % 2 === 0 ? "premium" : "basic" });
    if (count !== 2) await clock.advance(5);
  }
  const first = (await json("analysis://results?task=premium&limit=2")).value;
  expect(titles(first)).toEqual(["question 4", "question 2"]);
  const second = (await json(`analysis://results?task=premium&limit=2&after=${first.next}`)).value;
  expect(titles(second)).toEqual(["question 0"]);
  expect(second.next).toBeUndefined();
  const all = (await json("analysis://results?limit=3")).value;
  const rest = (await json(`analysis://results?after=${all.next}`)).value;
  expect(new Set([...titles(all), ...titles(rest)]).size).toBe(5);
  expect(await text("analysis://results?task=basic&format=markdown")).toContain("- question 3 (`basic`");
  for (const query of ["task=premum", "limit=0", "limit=101", "after=1", "format=xml"])
    await refusal(pressmark.read(`analysis://results?${query}`, call), ["invalid"], query);
});

it("statistics show how often a result was reused, and what that saved, by task type", async () => {
  const { keep, find, json, text, clock } = open();
  await find({ taskType: "premium" });
  await keep({ taskType: "premium", result: resultOf({ cost: 2 }) });
  for (let count = 0; count < 3; count += 1) await find({ taskType: "premium" });
  await find({ claim: false });
  await clock.advance(6 * 3_600_000);
  await find({ taskType: "premium", acceptStale: true });
  const { value, scope, ttlMs } = await json("analysis://statistics");
  expect({ scope, ttlMs }).toEqual({ scope: "private", ttlMs: 0 });
  expect(value).toMatchObject({
    results: 1,
    answered: 6,
    hits: 3,
    stale: 1,
    computed: 1,
    missed: 1,
    cost_spent: 2,
    cost_saved: 8,
  });
  expect(value.hit_rate).toBeCloseTo(4 / 6);
  expect(value.by_task_type.premium).toMatchObject({ hit_rate: 0.8, ms_saved: 16_000 });
  expect(await text("analysis://statistics?format=markdown")).toContain("| premium | 5 | 80 % | $8.0000 | $2.0000 |");
});
