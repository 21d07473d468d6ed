/** Texts that are made to be slow: what expressions and parsers stumble over, in any length. */
import fc from "fast-check";

export interface Attack {
  /**
   * How the unit is repeated: side by side; nested, with what closes it behind; each with a number of its own; in longer and longer runs; in
   * runs as long as there are many of them; as many of one as of another behind them, each with a number.
   */
  readonly shape: "repeat" | "nest" | "number" | "grow" | "runs" | "halves";
  readonly before: string;
  readonly unit: string;
  /** Between runs. */
  readonly between: string;
  readonly behind: string;
}

/** About so long, and no longer. What stands behind is never cut off: often it is what makes a text slow. */
export function textOf({ shape, before, unit, between, behind }: Attack, length: number): string {
  const middle = Math.max(0, length - before.length - behind.length);
  return before + bodyOf(shape, unit, between, middle).slice(0, middle) + behind;
}

function bodyOf(shape: Attack["shape"], unit: string, between: string, length: number): string {
  switch (shape) {
    case "repeat":
      return unit.repeat(Math.ceil(length / unit.length));
    case "nest": {
      const count = Math.ceil(length / (2 * unit.length));
      return unit.repeat(count) + between + closing(unit).repeat(count);
    }
    case "number": {
      const count = Math.ceil(length / (unit.length + between.length + 4));
      return Array.from({ length: count }, (_, index) => `${unit}${index}${between}`).join("");
    }
    case "halves": {
      const count = Math.ceil(length / (unit.length + between.length + 8));
      const numbered = (text: string) => Array.from({ length: count }, (_, index) => `${text}${index}\n`).join("");
      return numbered(unit) + numbered(between);
    }
    case "grow": {
      const count = Math.ceil(Math.sqrt((2 * length) / unit.length));
      return Array.from({ length: count }, (_, index) => unit.repeat(index) + between).join("");
    }
    case "runs": {
      const count = Math.ceil(Math.sqrt(length / unit.length));
      return (unit.repeat(count) + between).repeat(count);
    }
  }
}

const pairs: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}", "<": ">" };

function closing(unit: string): string {
  return Array.from(unit)
    .toReversed()
    .map((character) => pairs[character] ?? character)
    .join("");
}

/** What texts are made of everywhere. */
const common = [
  ..." \t\n\r\0",
  ..."aZ0_-./:;,=!?@#$%&*+~^|\\\"'`()[]{}<>",
  "\r\n",
  "//",
  "/*",
  "--",
  "éあ漢",
  "\u200d",
  "😀",
  "\ud800",
];

/** Attacks made of these pieces, and of what texts are made of everywhere. */
export function attacks(tokens: readonly string[]): fc.Arbitrary<Attack> {
  const own = tokens.length === 0 ? common : tokens;
  const piece = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...own) },
    { weight: 2, arbitrary: fc.constantFrom(...common) },
    // Almost one of them.
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...own), fc.nat(20)).map(([token, cut]) => token.slice(0, cut)) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom("a", " ", "-", "`", "\\"), fc.integer({ min: 1, max: 40 }))
        .map(([sign, count]) => sign.repeat(count)),
    },
  );
  const pieces = (minLength: number, maxLength: number) =>
    fc.array(piece, { minLength, maxLength }).map((all) => all.join(""));
  return fc.record({
    shape: fc.constantFrom("repeat", "repeat", "repeat", "nest", "number", "grow", "runs", "halves"),
    before: pieces(0, 2),
    unit: pieces(1, 4).map((unit) => unit || "a"),
    between: pieces(0, 2),
    behind: pieces(0, 2),
  });
}
