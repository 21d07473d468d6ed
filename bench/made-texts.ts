/** Texts of mixed languages, made up from a fixed seed: words as unevenly spread as in real text. */
import { readSet } from "./search/sets.ts";

export interface MadeText {
  /** Of the name of its file. */
  readonly ending: "txt" | "md" | "ts";
  readonly text: string;
}

/** Returns the next text with each call: of ten, six in English, two in Japanese and two of code, of 200 bytes to 2 KB each. */
export function createMadeTexts(seed = 20_261_118): () => MadeText {
  const next = randomFrom(seed);
  const words = Array.from({ length: 60_000 }, () => word(next));
  const clauses = readSet("japanese").documents.flatMap(({ text }) => text.split(/(?<=[、。])/u));
  const kanji = [...new Set(clauses.join("").match(/\p{Script=Han}/gu) ?? [])];
  const names = Array.from({ length: 60_000 }, () => word(next) + capital(word(next)));
  const pick = (): string => words[uneven(next, words.length)]!;
  const name = (): string => names[uneven(next, names.length)]!;
  let made = 0;

  function english(length: number): string {
    let text = "";
    while (text.length < length) {
      const sentence = Array.from({ length: 6 + Math.floor(next() * 12) }, pick).join(" ");
      text += `${sentence[0]!.toUpperCase()}${sentence.slice(1)}.${next() < 0.2 ? "\n\n" : " "}`;
    }
    return `${text.trimEnd()}\n`;
  }

  function japanese(length: number): string {
    let text = `# ${clauses[uneven(next, clauses.length)]!}\n\n`;
    while (text.length < length) {
      // A compound that few other texts have, as names and terms are.
      const compound = kanji[Math.floor(next() * kanji.length)]! + kanji[Math.floor(next() * kanji.length)]!;
      text += clauses[uneven(next, clauses.length)]! + (next() < 0.3 ? `${compound}は` : "");
    }
    return `${text}\n`;
  }

  function code(length: number): string {
    let text = `import { ${name()} } from "./${pick()}.ts";\n\n`;
    while (text.length < length) {
      const [argument, local] = [pick(), name()];
      text += `/** ${capital(pick())} ${pick()} ${pick()}. */\nexport function ${name()}(${argument}: number): string {\n`;
      text += `  const ${local} = ${name()}(${argument}, ${Math.floor(next() * 1000)});\n`;
      text += `  return ${local}.${pick()}("${pick()} ${pick()}");\n}\n\n`;
    }
    return text;
  }

  return () => {
    const kind = made++ % 10;
    const bytes = 200 * 10 ** next();
    if (kind < 6) return { ending: "txt", text: english(bytes) };
    if (kind < 8) return { ending: "md", text: japanese(bytes / 3) };
    return { ending: "ts", text: code(bytes) };
  };
}

export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The second word is half as frequent as the first, the third a third. */
export function uneven(next: () => number, count: number): number {
  return Math.min(count - 1, Math.floor(count ** next()) - 1);
}

export function word(next: () => number): string {
  const syllables = 1 + Math.floor(next() * 4);
  return Array.from(
    { length: syllables },
    () => "bcdfghjklmnprstvw"[Math.floor(next() * 17)]! + "aeiou"[Math.floor(next() * 5)]! + (next() < 0.3 ? "n" : ""),
  ).join("");
}

function capital(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1);
}
