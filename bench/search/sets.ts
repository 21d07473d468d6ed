/** Questions, and the documents that answer them: written for this benchmark, of this repository, or from the folder of corpora. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

export interface Passage {
  readonly path: string;
  readonly text: string;
}

export interface Asked {
  readonly text: string;
  /** The path of the one document that answers. */
  readonly answer: string;
}

export interface TestSet {
  readonly name: string;
  readonly documents: readonly Passage[];
  readonly questions: readonly Asked[];
}

/** Weights were chosen on one half of the questions; the other half had no say. */
export function halves(questions: readonly Asked[]): { tuning: readonly Asked[]; heldOut: readonly Asked[] } {
  const answers = [...new Set(questions.map(({ answer }) => answer))].sort();
  const isTuning = new Set(answers.filter((_, at) => at % 2 === 0));
  return {
    tuning: questions.filter(({ answer }) => isTuning.has(answer)),
    heldOut: questions.filter(({ answer }) => !isTuning.has(answer)),
  };
}

/** Passages and below each, behind "?", questions that it answers. */
export function readSet(name: string): TestSet {
  const documents: Passage[] = [];
  const questions: Asked[] = [];
  for (const line of readFileSync(join(import.meta.dirname, "data", `${name}.txt`), "utf8").split("\n")) {
    if (line.startsWith("? ")) questions.push({ text: line.slice(2), answer: documents.at(-1)!.path });
    else if (line !== "") documents.push({ path: String(documents.length).padStart(4, "0"), text: line });
  }
  return { name, documents, questions };
}

function numberedPath(at: number): string {
  return String(at).padStart(5, "0");
}

/** Paragraphs and their questions, from a file in the format of SQuAD. */
export function squadSet(file: string): TestSet {
  const data = file.endsWith(".gz") ? gunzipSync(readFileSync(file)) : readFileSync(file);
  const articles = JSON.parse(data.toString("utf8")) as {
    data: { paragraphs: { context: string; qas: { question: string }[] }[] }[];
  };
  const paragraphs = articles.data.flatMap((article) => article.paragraphs);
  return {
    name: "squad",
    documents: paragraphs.map(({ context }, at) => ({ path: numberedPath(at), text: context })),
    questions: paragraphs.flatMap(({ qas }, at) =>
      qas.map(({ question }) => ({ text: question, answer: numberedPath(at) })),
    ),
  };
}

/** JSQuAD's validation part in the folder that `PRESSMARK_CORPORA` names; undefined without one. */
export function squadFile(): string | undefined {
  const folder = process.env["PRESSMARK_CORPORA"];
  const file = folder && join(folder, "jsquad-valid-1.3.json.gz");
  return file && existsSync(file) ? file : undefined;
}

/** The same documents, asked for by keywords: the first content runs of each question. */
export function keywordSet(set: TestSet, count: number): TestSet {
  const questions = set.questions.map(({ text, answer }) => ({ text: runsOf(text).slice(0, count).join(" "), answer }));
  return {
    name: `${set.name}, ${count} runs`,
    documents: set.documents,
    questions: questions.filter(({ text }) => text !== ""),
  };
}

/** Runs of kanji, of katakana, and of Latin letters and digits, without those that only ask: 何, 何年, 誰. */
function runsOf(question: string): string[] {
  const runs = question.normalize("NFKC").match(/[\p{Script=Han}々]+|[\p{Script=Katakana}ー]+|[A-Za-z0-9]+/gu) ?? [];
  return runs.filter((run) => !/^[何誰年名人]+$/u.test(run));
}

/** Files of this repository without their comments; what a comment said of a definition asks for the file that it stands in. */
export function codeSet(): TestSet {
  const root = join(import.meta.dirname, "..", "..");
  const documents: Passage[] = [];
  const questions: Asked[] = [];
  for (const file of readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).sort()) {
    if (!file.endsWith(".ts") || file.endsWith(".test.ts") || file.startsWith("search/")) continue;
    const text = readFileSync(join(root, "src", file), "utf8");
    const comment = /\/\*\*([^*]|\*(?!\/))*\*\/\n(?=(?: *(?:export |async |function |readonly )))/g;
    for (const [said] of text.matchAll(comment)) {
      const words = said
        .replace(/^\s*\/\*\*|\*\/|^ *\* ?/gm, " ")
        .replace(/\s+/g, " ")
        .trim();
      if (words.split(" ").length >= 5) questions.push({ text: words, answer: file });
    }
    documents.push({ path: file, text: text.replace(/\/\*\*([^*]|\*(?!\/))*\*\/\n?/g, "") });
  }
  return { name: "code", documents, questions };
}
