/** Results for people: Markdown in the language of the result. */
import { iso } from "./analysis-actions.ts";
import type { ModelsResult } from "./result.ts";
import type { StoreEvent, StoredResult } from "./store.ts";
import type { Numbers, Statistics } from "./analysis-counts.ts";

type Language = "en" | "ja";

const words = {
  en: {
    question: "Question",
    consensus: "Consensus",
    reasoning: "Reasoning",
    votes: "Votes",
    flow: "How it came about",
    events: "Events",
    rests: "Rests on",
    provider: "Provider",
    model: "Model",
    confidence: "Confidence",
    agreement: "Agreement (producer)",
    recomputed: "Agreement (recomputed)",
    cost: "Cost",
    tokens: "Tokens",
    kept: "Fresh until",
    stale: "Stale: it has expired",
    passed: "above the gate",
    doubtful: "below the gate",
    time: "Time",
    event: "Event",
    none: "Nothing was recorded.",
    method: "Recomputed by",
    aggregation: "Aggregation",
    step: "Step",
  },
  ja: {
    question: "質問",
    consensus: "合意",
    reasoning: "理由",
    votes: "各モデルの回答",
    flow: "経緯",
    events: "出来事",
    rests: "根拠とした資料",
    provider: "提供元",
    model: "モデル",
    confidence: "確信度",
    agreement: "一致度(生成側)",
    recomputed: "一致度(再計算)",
    cost: "費用",
    tokens: "トークン",
    kept: "保持期限",
    stale: "期限切れ",
    passed: "基準を満たす",
    doubtful: "基準に満たない",
    time: "時刻",
    event: "内容",
    none: "記録はありません。",
    method: "再計算の方法",
    aggregation: "集約",
    step: "手順",
  },
} as const;

export type ResultSection = "consensus" | "votes" | "flow" | "events";

export function resultMarkdown(stored: StoredResult, events: readonly StoreEvent[], now: number): string {
  const say = words[answerLanguageOf(stored.result.consensus.content)];
  const { grounding } = stored.question;
  return blocks(
    `# ${inline(stored.title)}`,
    line(stored, now),
    `## ${say.question}`,
    quoted(stored.question.prompt),
    ...consensusBlocks(stored),
    ...votesBlocks(stored),
    ...(grounding.length > 0 ? [`## ${say.rests}`, grounding.map(({ uri }) => `- ${code(uri)}`).join("\n")] : []),
    ...(stored.result.flow_details ? flowBlocks(stored) : []),
    ...eventsBlocks(stored, events),
  );
}

export function sectionMarkdown(
  section: ResultSection,
  stored: StoredResult,
  events: readonly StoreEvent[],
  now: number,
): string {
  const head = [`# ${inline(stored.title)}`, line(stored, now)];
  switch (section) {
    case "consensus":
      return blocks(...head, ...consensusBlocks(stored));
    case "votes":
      return blocks(...head, ...votesBlocks(stored));
    case "flow":
      return blocks(...head, ...flowBlocks(stored));
    case "events":
      return blocks(...head, ...eventsBlocks(stored, events));
  }
}

export function statisticsMarkdown(statistics: Statistics): string {
  const row = (name: string, { answered, hit_rate, cost_saved, cost_spent }: Numbers) =>
    cells([name, String(answered), percent(hit_rate), money(cost_saved), money(cost_spent)]);
  return blocks(
    "# Results of analyses",
    `${statistics.results} results; ${statistics.invalidated} were dropped because a resource that they rested on changed.`,
    [
      cells(["Task type", "Answered", "Hit rate", "Cost saved", "Cost spent"]),
      cells(["---", "---:", "---:", "---:", "---:"]),
      ...Object.entries(statistics.by_task_type).map(([task, numbers]) => row(task, numbers)),
      row("all", statistics),
    ].join("\n"),
  );
}

function line({ result, quality, expires, task }: StoredResult, now: number): string {
  const say = words[answerLanguageOf(result.consensus.content)];
  const parts = [
    `\`${task}\``,
    `${say.confidence} ${percent(quality.confidence)}`,
    `${say.consensus} ${percent(quality.consensus)}`,
    quality.passed ? say.passed : say.doubtful,
    `${say.cost} ${money(result.total_cost)}`,
    expires > now ? `${say.kept} ${iso(expires)}` : `**${say.stale}** (${iso(expires)})`,
  ];
  return parts.join(" · ");
}

function consensusBlocks({ result: { consensus } }: StoredResult): string[] {
  const say = words[answerLanguageOf(consensus.content)];
  return [
    `## ${say.consensus}`,
    quoted(consensus.content),
    ...(consensus.reasoning.trim() === "" ? [] : [`### ${say.reasoning}`, quoted(consensus.reasoning)]),
  ];
}

function votesBlocks({ result, agreement }: StoredResult): string[] {
  const say = words[answerLanguageOf(result.consensus.content)];
  const head = [say.provider, say.model, say.confidence, say.agreement, say.recomputed, say.cost, say.tokens];
  const rows = result.llm_votes.map((vote, index) => voteRow(vote, agreement.votes[index]?.recomputed ?? 0));
  return [
    `## ${say.votes}`,
    [cells(head), cells(head.map(() => "---")), ...rows].join("\n"),
    `${say.method}: ${inline(agreement.method)}`,
    ...result.llm_votes.flatMap(({ provider, model, response }) => [
      `### ${inline(provider)} / ${inline(model)}`,
      quoted(response.content),
    ]),
  ];
}

function voteRow(
  { provider, model, agreement_score, response }: ModelsResult["llm_votes"][number],
  own: number,
): string {
  const { input, output, total = input + output } = response.tokens;
  return cells([
    inline(provider),
    inline(model),
    percent(response.confidence),
    percent(agreement_score),
    percent(own),
    money(response.cost),
    String(total),
  ]);
}

function flowBlocks({ result }: StoredResult): string[] {
  const say = words[answerLanguageOf(result.consensus.content)];
  const flow = result.flow_details;
  if (!flow) return [`## ${say.flow}`, say.none];
  return [
    `## ${say.flow}`,
    quoted(flow.user_query),
    ...flow.llm_interactions.flatMap((step, index) => [`### ${say.step} ${index + 1}`, fenced(step)]),
    ...(flow.aggregation === undefined ? [] : [`### ${say.aggregation}`, fenced(flow.aggregation)]),
  ];
}

function eventsBlocks({ result }: StoredResult, events: readonly StoreEvent[]): string[] {
  const say = words[answerLanguageOf(result.consensus.content)];
  const rows = events.map(({ at, what, detail = "" }) => cells([iso(at), inline(what), inline(detail)]));
  return [
    `## ${say.events}`,
    rows.length === 0 ? say.none : [cells([say.time, say.event, ""]), cells(["---", "---", "---"]), ...rows].join("\n"),
  ];
}

/** Only Japanese uses kana, so they distinguish it from Chinese. */
export function answerLanguageOf(text: string): Language {
  const kana = text.match(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu)?.length ?? 0;
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  return kana > 0 && kana >= letters / 10 ? "ja" : "en";
}

function blocks(...all: readonly string[]): string {
  return `${all.join("\n\n")}\n`;
}

/** A model's text may itself be Markdown: as a quotation it keeps its format and cannot be mistaken for ours. */
function quoted(text: string): string {
  return text
    .trim()
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((each) => (each === "" ? ">" : `> ${each}`))
    .join("\n");
}

function fenced(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${typeof value === "string" ? "" : "json"}\n${text}\n${fence}`;
}

function cells(values: readonly string[]): string {
  return `| ${values.join(" | ")} |`;
}

/** On one line, with all Markdown characters escaped. */
function inline(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").replaceAll(/[\\`*_[\]<>|#]/g, String.raw`\$&`);
}

function code(text: string): string {
  return `\`${text.replaceAll(/[`\p{Cc}]+/gu, " ")}\``;
}

const percent = (share: number) => `${Math.round(share * 1000) / 10} %`;
const money = (amount: number) => `$${amount.toFixed(4)}`;
