/** How well secrets are told from what looks like them, measured. */
import { describe, expect, it } from "vitest";
import { findSecrets, maskSecrets } from "./secrets.ts";
import { moreLookAlikes } from "./secrets-alike.corpus.ts";
import { secretsInUse } from "./secrets-in-use.corpus.ts";
import { lookAlikes, plantedSecrets } from "./secrets.corpus.ts";

const seeds = [1, 20_260_728, 99_991];

function tally(kinds: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

describe("of secrets as their makers make them", () => {
  it.each(seeds)("every single one is masked, and all of it (seed %i)", (seed) => {
    const planted = plantedSecrets(seed, 25);
    expect(planted.length).toBeGreaterThan(2000);
    const missed = planted.filter(({ text, secret }) => {
      const masked = maskSecrets(text).text;
      // Neither its beginning behind the maker's mark nor its end may be left.
      const pieces = [secret, secret.slice(-12), secret.slice(Math.floor(secret.length / 2)).slice(0, 12)];
      return pieces.some((piece) => masked.includes(piece));
    });
    expect(tally(missed.map(({ kind }) => kind))).toEqual({});
  });

  it.each(seeds)("every one is masked wherever people leave it (seed %i)", (seed) => {
    const planted = secretsInUse(seed, 12);
    expect(planted.length).toBeGreaterThan(1900);
    expect(planted.every(({ text, secret }) => text.includes(secret))).toBe(true);
    const missed = planted.filter(({ text, secret }) => maskSecrets(text).text.includes(secret));
    expect(tally(missed.map(({ kind }) => kind))).toEqual({});
  });

  it("every one is found in a long text of others, at its own place", () => {
    const planted = plantedSecrets(7, 3);
    const others = lookAlikes(8, planted.length);
    const text = planted.map((each, at) => `${others[at]!.text}\n\n${each.text}\n\n`).join("");
    const masked = maskSecrets(text).text;
    expect(planted.filter(({ secret }) => masked.includes(secret)).map(({ kind }) => kind)).toEqual([]);
    expect(masked.split("\n")).toHaveLength(text.split("\n").length);
  });
});

describe("of what looks like secrets", () => {
  it.each(seeds)("fewer than one in a hundred is taken for one (seed %i)", (seed) => {
    for (const alikes of [lookAlikes(seed, 6000), moreLookAlikes(seed, 3000)]) {
      const alarms = alikes.filter(({ text }) => findSecrets(text).length > 0);
      expect(alarms.length / alikes.length, JSON.stringify(tally(alarms.map(({ kind }) => kind)))).toBeLessThan(0.01);
    }
  });
});

it("what is masked stays masked, and nothing more is taken for a secret then", () => {
  for (const { text } of plantedSecrets(3, 5)) {
    const masked = maskSecrets(text).text;
    expect(maskSecrets(masked).text).toBe(masked);
  }
});
