/** The same questions with access rules and without, side by side over one index. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRulesPolicy, type AccessRule } from "../../src/access/rules.ts";
import { openStore } from "../../src/search/sqlite-store.ts";
import { createVisibility, type Visibility } from "../../src/search/visibility.ts";
import { plain } from "./contestants.ts";
import type { Passage } from "./sets.ts";

export interface RulesCost {
  /** Share of the documents that the rules hide. */
  readonly hidden: number;
  /** Time of the questions, × the same questions without rules; the least of several rounds for each. */
  readonly ratio: number;
  /** To decide about all documents, once for each group of callers, in milliseconds. */
  readonly decideMs: number;
}

/** 100 rules that hide folders, by name and at any depth. The documents lie in the folders 0 to 99. */
function rulesHiding(folders: number): readonly AccessRule[] {
  const denied = Array.from({ length: 99 }, (_, at) => {
    const name = at < folders ? String(at) : `none-${at}`;
    return { deny: ["group:bots"], paths: [at % 3 === 0 ? `**/${name}/*.txt` : name] };
  });
  return [{ allow: ["anyone"] }, ...denied];
}

export function measureRules(documents: readonly Passage[], questions: readonly string[], rounds = 5): RulesCost[] {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-search-"));
  const store = openStore(join(folder, "index.db"));
  for (let at = 0; at < documents.length; at += 500)
    store.put(
      documents.slice(at, at + 500).map(({ path, text }) => ({ mount: "bench", entry: { path, version: "1" }, text })),
    );
  const addresses = store.addresses(0, documents.length);
  const caller = { id: "nightly", groups: ["bots"] };
  const cases = [2, 10, 50].map((folders) => {
    const policy = createRulesPolicy(rulesHiding(folders));
    const begun = performance.now();
    const visible = addresses.filter((document) => policy.maySee(caller, document.mount, document));
    return { visible: visible.map(({ id }) => id), decideMs: performance.now() - begun };
  });
  // A new one for each round: it remembers what it has counted.
  const visibilityOf = (visible: readonly number[]): Visibility => {
    const visibility = createVisibility();
    visibility.decide(addresses.at(-1)!.id, visible);
    store.search({ text: "none", limit: 1, visibility });
    return visibility;
  };
  const variants = [undefined, ...cases.map(({ visible }) => visible)];
  const least = variants.map(() => Infinity);
  for (let round = 0; round <= rounds; round += 1)
    for (const [at, visible] of variants.entries()) {
      const visibility = visible && visibilityOf(visible);
      const begun = performance.now();
      for (const question of questions) store.search({ text: plain(question), limit: 10, visibility });
      if (round > 0) least[at] = Math.min(least[at]!, performance.now() - begun);
    }
  store.close();
  rmSync(folder, { recursive: true });
  return cases.map(({ visible, decideMs }, at) => ({
    hidden: 1 - visible.length / documents.length,
    ratio: least[at + 1]! / least[0]!,
    decideMs,
  }));
}
