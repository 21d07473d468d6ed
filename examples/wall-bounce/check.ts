import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { textOf, visit } from "../visit.ts";
import { analyse } from "./producer.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "wall-bounce-")));
const config = join(folder, "pressmark.config.yaml");
const guide = join(folder, "guide.md");
writeFileSync(guide, "# 決済\n\n在庫とは同期で話す。\n");
writeFileSync(
  config,
  "mounts:\n  project: { source: file, root: . }\n  wall: { source: analysis, path: results.db }\n",
);

const pressmark = fileURLToPath(new URL("../../bin/pressmark.js", import.meta.url));
// Two servers, as two hosts would start them, share one file.
const [one, other] = await Promise.all([1, 2].map(() => visit(pressmark, "stdio", "--config", config)));
assert(one && other);

let runs = 0;
async function models(prompt: string): Promise<object> {
  runs += 1;
  const content = `${prompt} キューを置くべきです。`;
  const response = { content, confidence: 0.9, reasoning: "", cost: 0.02, tokens: { input: 40, output: 20 } };
  const votes = ["anthropic", "openai"].map((provider) => ({ provider, model: `${provider}-large`, response }));
  return {
    consensus: { content, confidence: 0.9, reasoning: "二つのモデルが一致しました。" },
    // Its own measure splits at spaces, and finds no agreement in Japanese.
    llm_votes: votes.map((vote) => ({ ...vote, agreement_score: 0 })),
    total_cost: 0.04,
    processing_time_ms: 3000,
    debug: { wall_bounce_verified: true, providers_used: ["anthropic", "openai"], tier_escalated: false },
  };
}

const grounding = [{ uri: `file://${guide}` }];
const asked = { prompt: "決済と在庫の間に何を置くべきか?", taskType: "premium", grounding } as const;
const answers = await Promise.all([one, other, one, other].map((client) => analyse(client, asked, models)));
assert.equal(runs, 1, "four askers in two processes compute once");
assert.deepEqual(new Set(answers.map(({ uris }) => uris?.[0])).size, 1);

const [uri = ""] = answers[0]?.uris ?? [];
const page = await textOf(other, `${uri}?format=markdown`);
assert.match(page, /## 合意\n\n> 決済と在庫の間に何を置くべきか\? キューを置くべきです。/);
assert.match(page, /基準を満たす/);

writeFileSync(guide, "# 決済\n\n在庫とはキューで話す。\n");
await analyse(one, asked, models);
assert.equal(runs, 2, "what it rests on has changed, so it is computed anew");

await Promise.all([one.close(), other.close()]);
rmSync(folder, { recursive: true });
console.log("wall-bounce: all is as it should be");
