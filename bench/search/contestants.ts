/** Who is asked: this project's index, and FTS5 in the ways that people use it. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openStore } from "../../src/search/sqlite-store.ts";
import type { Passage } from "./sets.ts";

export interface Contestant {
  readonly name: string;
  put(documents: readonly Passage[]): void;
  /** Paths, best first. */
  ask(question: string, limit: number): readonly string[];
  /** Of all files on the disk. */
  bytes(): number;
  close(): void;
}

export function pressmark(): Contestant {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-search-"));
  const store = openStore(join(folder, "index.db"));
  return {
    name: "pressmark",
    put(documents) {
      store.put(documents.map(({ path, text }) => ({ mount: "bench", entry: { path, version: "1" }, text })));
    },
    ask: (question, limit) => store.search({ text: plain(question), limit }).map(({ entry }) => entry.path),
    bytes: () => sizeOf(join(folder, "index.db")),
    close() {
      store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Questions are words here: what would be a sign of the question's language is taken out for all alike. */
export function plain(question: string): string {
  return question
    .replace(/["“”„＂]/gu, " ")
    .replace(/(?<=^|\s)-+/gu, " ")
    .replace(/\b(path|mime|source|lang|after):/giu, "$1 ");
}

export type Stock = "unicode61" | "porter unicode61" | "trigram";

/** FTS5 as it comes. */
export function stock(tokenizer: Stock): Contestant {
  const terms = (question: string): readonly string[] => {
    const words = question.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
    if (tokenizer !== "trigram") return words;
    return words.flatMap((word) => {
      const letters = [...word];
      return letters.slice(2).map((_, at) => letters.slice(at, at + 3).join(""));
    });
  };
  return fts5(tokenizer, tokenizer, (text) => text, terms);
}

/** FTS5 over words of Intl.Segmenter and pairs of characters, both in one index. */
export function wordsAndPairs(): Contestant {
  const segmenter = new Intl.Segmenter("ja", { granularity: "word" });
  const terms = (text: string): string[] => {
    const folded = text
      .normalize("NFKC")
      .toLowerCase()
      .replace(/[ァ-ヶ]/gu, (kana) => String.fromCharCode(kana.charCodeAt(0) - 0x60));
    const words = [...segmenter.segment(folded)].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment);
    const pairs = (folded.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+/gu) ?? []).flatMap((run) => {
      const characters = [...run];
      return characters.slice(1).map((character, at) => characters[at]! + character);
    });
    return [...words, ...pairs];
  };
  return fts5("words + pairs", "unicode61", (text) => terms(text).join(" "), terms);
}

function fts5(
  name: string,
  tokenizer: Stock,
  format: (text: string) => string,
  terms: (question: string) => readonly string[],
): Contestant {
  const folder = mkdtempSync(join(tmpdir(), "fts5-"));
  const file = join(folder, "index.db");
  const database = new DatabaseSync(file);
  database.exec(`pragma journal_mode = wal; pragma synchronous = normal;
    create virtual table passages using fts5 (path, text, tokenize = '${tokenizer}')`);
  const insert = database.prepare("insert into passages (path, text) values (?, ?)");
  const ask = database.prepare("select path from passages where passages match ? order by rank limit ?");
  return {
    name,
    put(documents) {
      database.exec("begin");
      for (const { path, text } of documents) insert.run(path, format(text));
      database.exec("commit");
    },
    ask(question, limit) {
      const wanted = [...new Set(terms(question))].map((term) => `"${term.replaceAll('"', '""')}"`);
      return wanted.length === 0 ? [] : ask.all(wanted.join(" OR "), limit).map(({ path }) => path as string);
    },
    bytes: () => sizeOf(file),
    close() {
      database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Without what waits in the log to be written into the file: it is limited, whatever the size of the index. */
function sizeOf(file: string): number {
  const database = new DatabaseSync(file);
  database.exec("pragma wal_checkpoint(truncate)");
  database.close();
  return statSync(file).size;
}
