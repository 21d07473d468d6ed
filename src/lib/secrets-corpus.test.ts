/** Measures how well secrets are distinguished from similar text. */
import { describe, expect, it } from "vitest";
import { findSecrets, maskSecrets } from "./secrets.ts";
import { moreLookAlikes } from "./test-secrets-alike.ts";
import { secretsInUse } from "./test-secrets-in-use.ts";
import { lookAlikes, plantedSecrets } from "./test-secrets.ts";

const seeds = [1, 20_260_728, 99_991];

function tally(kinds: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

describe("of realistic secrets", () => {
  it.each(seeds)("every one is masked completely (seed %i)", (seed) => {
    const planted = plantedSecrets(seed, 25);
    expect(planted.length).toBeGreaterThan(2000);
    const missed = planted.filter(({ text, secret }) => {
      const masked = maskSecrets(text).text;
      // Neither the beginning after the vendor's prefix nor the end may be left.
      const pieces = [secret, secret.slice(-12), secret.slice(Math.floor(secret.length / 2)).slice(0, 12)];
      return pieces.some((piece) => masked.includes(piece));
    });
    expect(tally(missed.map(({ kind }) => kind))).toEqual({});
  });

  it.each(seeds)("every one is masked in every usual context (seed %i)", (seed) => {
    const planted = secretsInUse(seed, 12);
    expect(planted.length).toBeGreaterThan(1900);
    expect(planted.every(({ text, secret }) => text.includes(secret))).toBe(true);
    const missed = planted.filter(({ text, secret }) => maskSecrets(text).text.includes(secret));
    expect(tally(missed.map(({ kind }) => kind))).toEqual({});
  });

  it("every one is found in a long text, at its own position", () => {
    const planted = plantedSecrets(7, 3);
    const others = lookAlikes(8, planted.length);
    const text = planted.map((each, at) => `${others[at]!.text}\n\n${each.text}\n\n`).join("");
    const masked = maskSecrets(text).text;
    expect(planted.filter(({ secret }) => masked.includes(secret)).map(({ kind }) => kind)).toEqual([]);
    expect(masked.split("\n")).toHaveLength(text.split("\n").length);
  });
});

describe("of text similar to secrets", () => {
  it.each(seeds)("fewer than one in a hundred is masked (seed %i)", (seed) => {
    for (const alikes of [lookAlikes(seed, 6000), moreLookAlikes(seed, 3000)]) {
      const alarms = alikes.filter(({ text }) => findSecrets(text).length > 0);
      expect(alarms.length / alikes.length, JSON.stringify(tally(alarms.map(({ kind }) => kind)))).toBeLessThan(0.01);
    }
  });
});

it("masked text stays the same when it is masked again", () => {
  for (const { text } of plantedSecrets(3, 5)) {
    const masked = maskSecrets(text).text;
    expect(maskSecrets(masked).text).toBe(masked);
  }
});
