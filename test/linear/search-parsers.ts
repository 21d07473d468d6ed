/** Parsers of search and gather: queries, tasks and the texts that are searched. */
import { hunksOf } from "../../src/context/changed-lines.ts";
import { clean } from "../../src/context/clean.ts";
import { bestCounter } from "../../src/context/count-tokens.ts";
import { importsOf } from "../../src/context/imports.ts";
import { readTask } from "../../src/context/read-task.ts";
import { createWorkbench } from "../../src/context/workbench.ts";
import { estimate } from "../../src/context/count-tokens.ts";
import { conditionOf } from "../../src/search/filters.ts";
import { kanaWordsOf } from "../../src/search/kana-words.ts";
import { passagesOf } from "../../src/search/passages.ts";
import { parseQuery } from "../../src/search/query.ts";
import { snippetOf } from "../../src/search/snippet.ts";
import { stem } from "../../src/search/stem.ts";
import { tokenize } from "../../src/search/tokens.ts";
import { kib, names, type Parser } from "./parser.ts";

export const gathering: readonly Parser[] = [
  {
    name: "tasks",
    tokens: [
      "./",
      "../",
      "a/",
      ".a",
      "http://",
      "a.b",
      "_a",
      "aB",
      ": ",
      "deadbeef1",
      '"',
      "-",
      "。",
      "テーブル",
      "table ",
    ],
    maxLength: 20_000,
    run: readTask,
    kept: [{ unit: "./" }, { unit: "!", before: "a://", behind: "x" }],
  },
  {
    name: "patches of similar commits",
    tokens: ["diff --git ", "+++ ", '+++ "b/', "\\346", "\\", '"', "@@ ", " @@", "+", " ", "\t", "\n"],
    maxLength: 256 * kib,
    run: hunksOf,
  },
  {
    name: "texts that are cleaned",
    tokens: ["\u200b", "\u00ad", "\ufe0f", "1\ufe0f\u20e3", "\u{e0041}", "a"],
    maxLength: 64 * kib,
    run: clean,
  },
  {
    name: "texts that are gathered from",
    tokens: ["# ", "```\n", "function ", "class ", "a_b", "aB", "東京", "。", "\n\n", "- ", "| ", "<p>"],
    maxLength: 64 * kib,
    inThread: true,
    run(raw) {
      for (const path of ["a.md", "a.ts", "a.py", "a.txt"])
        createWorkbench("kettle boils aB 東京", estimate).add({ key: path, raw, path, title: "" });
    },
  },
  ...["a.ts", "a.py", "a.c", "a.java", "a.rs", "a.rb", "a.php", "a.md"].map((path): Parser => ({
    name: `imports of ${path}`,
    tokens: [
      "import ",
      "from ",
      'from "./',
      "require(",
      '#include "',
      "use crate::",
      "mod ",
      "use ",
      "](",
      "./",
      "..",
      "\t",
      "   ",
      ".",
    ],
    maxLength: 64 * kib,
    run: (text) => importsOf(path, text),
  })),
  {
    name: "tokens of a model",
    tokens: ["a", "日", " ", "\n", "!", "1", "a ", "é", "😀", "\u0301"],
    maxLength: 64 * kib,
    inThread: true,
    run: async (text) => (await bestCounter()).count(text),
    kept: [{ unit: "日" }, { unit: " " }],
  },
  {
    name: "estimates of tokens",
    tokens: ["a", "日", " ", "\n", "!", "1", "aB"],
    maxLength: 1024 * kib,
    run: estimate.count,
  },
];

export const search: readonly Parser[] = [
  {
    name: "questions",
    tokens: ['"', "-", "path:", "mime:", "after:", "a ", "“", "„", "東京", "aB_c", "　"],
    maxLength: 10_000,
    run: (text) => parseQuery(text),
  },
  {
    name: "kana words of questions",
    tokens: ["です", "を", "さくら", "サ", "ー", "A", " ", "東"],
    // Longer than a question may be: growth is seen there.
    maxLength: 64 * kib,
    run: kanaWordsOf,
    kept: [{ unit: "ですA" }, { unit: "をに東" }],
  },
  {
    name: "path filters",
    tokens: ["*", "**/", "{a,b}", "a", "[", "?"],
    maxLength: kib,
    inThread: true,
    run(value) {
      const { keeps } = conditionOf({ filters: [{ name: "path", value, isNot: false }] }, {});
      for (const name of names) keeps(name, "text/plain");
    },
  },
  {
    name: "words",
    tokens: ["a", "aB", "a_b", "a-", "東", "ｱﾞ", "é", "e\u0301", "한", "กา", "😀", "A1"],
    maxLength: 256 * kib,
    inThread: true,
    run: tokenize,
  },
  ...(
    [
      "markdown",
      "asciidoc",
      "rst",
      "keys",
      "plain",
      "script",
      "python",
      "c",
      "csharp",
      "shell",
      "sql",
      "statements",
    ] as const
  ).map((format): Parser => ({
    name: `passages of ${format}`,
    tokens: [
      "a(",
      "int a(",
      ") {",
      "`",
      '"',
      '"""',
      "<<A\n",
      "# ",
      "```\n",
      "function a(",
      "class ",
      "public static ",
      "create table ",
      "  ",
      "def ",
      "/*",
      "*/",
      "{",
      "}",
      "\n",
      "==\n",
      "=",
      "a ",
    ],
    maxLength: 256 * kib,
    inThread: true,
    run: (text) => passagesOf(text, format),
  })),
  { name: "stems", tokens: ["ational", "ing", "ed", "ies", "y", "a", "e", "s"], maxLength: 10_000, run: stem },
  {
    name: "snippets",
    tokens: ["a", " ", "。", "\n", ".", "東"],
    maxLength: 64 * kib,
    run: (text) => snippetOf(text, []),
  },
];
