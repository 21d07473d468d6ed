/** Tries attacks on every parser: none takes longer than in proportion to its input, and none on the main thread takes longer than 200 ms. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Attack, attacks, textOf } from "./attacks.ts";
import { cpuMs, findGrowth, referenceMs, type Work } from "./cpu-growth.ts";
import type { Parser } from "./parser.ts";
import { parsers } from "./parsers.ts";

/** 200 ms on the machine on which the reference takes 10. */
const maxUnits = 20;

export interface FuzzOptions {
  readonly seed: number;
  /** How long to try attacks on one parser. What is kept is always tried. */
  readonly msPerParser: number;
  /** Whether each token of a parser is tried alone first, in every shape. */
  readonly eachToken?: boolean;
}

const shapes = ["repeat", "nest", "number", "grow", "runs"] as const;

export function fuzz({ seed, msPerParser, eachToken = false }: FuzzOptions): void {
  describe(`attacks with the seed ${seed}`, () => {
    it.each(parsers)("$name", { timeout: 20 * msPerParser + 120_000 }, async (parser) => {
      if (eachToken)
        for (const unit of parser.tokens)
          for (const shape of shapes) await withstands(parser, { ...nothing, shape, unit, between: "\n" });
      for (const kept of parser.kept ?? []) await withstands(parser, { ...nothing, ...kept });
      // Each takes a millisecond at least. Not fc.assert with a time limit: on a loaded machine it gives up before the first attack, and fails.
      const until = performance.now() + msPerParser;
      for (const attack of fc.sample(attacks(parser.tokens), { seed, numRuns: msPerParser })) {
        await withstands(parser, attack);
        if (performance.now() > until) break;
      }
    });
  });
}

const nothing: Attack = { shape: "repeat", before: "", unit: "a", between: "", behind: "" };

async function withstands(parser: Parser, attack: Attack): Promise<void> {
  const told = JSON.stringify(attack);
  const work = (length: number): Work => {
    const text = textOf(attack, length);
    // To refuse a text is an answer, too.
    return async () => {
      try {
        await parser.run(text);
      } catch {}
    };
  };
  if (!parser.isShort)
    expect(await findGrowth(work, parser.maxLength), `grows faster than its input: ${told}`).toBeUndefined();
  if (parser.inThread) return;
  const limitMs = maxUnits * (await referenceMs());
  const all = work(parser.maxLength);
  // Once is enough where it is fast.
  const ms = (await cpuMs(all, 1)) < limitMs ? 0 : await cpuMs(all, 3);
  expect(ms, `takes longer than a request may hold the main thread: ${told}`).toBeLessThan(limitMs);
}
