/** Every parser and matcher that sees what a client sends, what is in a file, or what another server says. */
import { z } from "zod";
import { readYaml } from "../../src/config/parse-text.ts";
import { parseTomlText } from "../../src/config/hosts/toml-text.ts";
import { hunksOf } from "../../src/context/changed-lines.ts";
import { clean } from "../../src/context/clean.ts";
import { bestCounter } from "../../src/context/count-tokens.ts";
import { importsOf } from "../../src/context/imports.ts";
import { readTask } from "../../src/context/read-task.ts";
import { createWorkbench } from "../../src/context/workbench.ts";
import { estimate } from "../../src/context/count-tokens.ts";
import { displayWidth } from "../../src/lib/display-width.ts";
import { decodeHtmlEntities } from "../../src/backends/documents/html-entities.ts";
import { decodeHtml, htmlToMarkdown } from "../../src/backends/documents/html.ts";
import { findMain, readHead } from "../../src/backends/documents/main-content.ts";
import { notebookToMarkdown } from "../../src/backends/documents/notebook.ts";
import { scanXml } from "../../src/backends/documents/xml.ts";
import { createGlob } from "../../src/lib/glob.ts";
import { parseJsonText } from "../../src/lib/json-text.ts";
import { createListFilter } from "../../src/lib/list-filter.ts";
import { findSecrets, maskPatch } from "../../src/lib/secrets.ts";
import { sniff } from "../../src/lib/sniff.ts";
import { decodeExactly, findEncoding } from "../../src/lib/text-encoding.ts";
import { parseTemplate } from "../../src/lib/uri-template.ts";
import { withoutPlaces } from "../../src/lib/without-locations.ts";
import { blocksOf } from "../../src/picker/markdown.ts";
import { parseDiff, diffRuns } from "../../src/picker/views/diff.ts";
import { parseErDiagram } from "../../src/picker/views/er.ts";
import { parseJsonView as parsePickerJson } from "../../src/picker/views/json.ts";
import { parseSeparated } from "../../src/picker/views/separated.ts";
import { parseLineRange } from "../../src/protocol/tools/arguments.ts";
import { createCursors } from "../../src/router/cursor.ts";
import { createRoutes } from "../../src/router/route.ts";
import { conditionOf } from "../../src/search/filters.ts";
import { kanaWordsOf } from "../../src/search/kana-words.ts";
import { passagesOf } from "../../src/search/passages.ts";
import { parseQuery } from "../../src/search/query.ts";
import { snippetOf } from "../../src/search/snippet.ts";
import { stem } from "../../src/search/stem.ts";
import { tokenize } from "../../src/search/tokens.ts";
import { createFacts } from "../../src/sources/config/facts.ts";
import { type ConfigFormat as SettingsFormat, parse as parseSettings } from "../../src/sources/config/formats.ts";
import dataSource from "../../src/sources/data.ts";
import { type DocumentFormat as DocsFormat } from "../../src/sources/docs/formats.ts";
import { parseDocumentFrontMatter } from "../../src/sources/docs/front-matter.ts";
import { headingsOf } from "../../src/sources/docs/headings.ts";
import { detectLanguage } from "../../src/sources/docs/language.ts";
import { languageBar, listLinks } from "../../src/sources/docs/links.ts";
import { excludesFileIn } from "../../src/backends/folder-rules/git-excludes.ts";
import { beginLayer, judge, parseRules } from "../../src/backends/folder-rules/ignore-rules.ts";
import { parseReadQuery } from "../../src/backends/ranges/range.ts";
import { withoutPictures } from "../../src/sources/gdrive/formats.ts";
import { parseRef } from "../../src/backends/git/ref-name.ts";
import { createAddresses } from "../../src/sources/mcp/addresses.ts";
import { toSourceTemplate } from "../../src/sources/mcp/templates.ts";
import { splitConditions } from "../../src/sources/metrics/metrics-request.ts";
import { createLabelMasking } from "../../src/sources/metrics/label-masking.ts";
import { eachLabel, typedAt } from "../../src/sources/metrics/promql.ts";
import { withoutSecrets } from "../../src/sources/metrics/state.ts";
import { parseDuration, parseTimeRange as parseSpan } from "../../src/sources/metrics/times.ts";
import { parseBlock } from "../../src/lib/skill-front-matter.ts";
import { parseSiteMap } from "../../src/sources/web/parse-site-map.ts";
import { parseRobots } from "../../src/sources/web/robots.ts";
import { parseAccept } from "../../src/transport/accepts.ts";
import { readForwarded, readXForwarded } from "../../src/transport/forwarded.ts";
import { parseMessageBytes } from "../../src/transport/parse-message.ts";
import type { Attack } from "./attacks.ts";

export interface Parser {
  readonly name: string;
  /** What its input is made of. */
  readonly tokens: readonly string[];
  /** The longest text that it is given at once. */
  readonly maxLength: number;
  /** Whether it runs in a thread with a deadline: then only its growth matters. */
  readonly inThread?: boolean;
  /** Whether its input is cut so short that only the time for it matters. */
  readonly isShort?: boolean;
  /** May refuse the text: to throw is an answer. */
  run(text: string): unknown;
  /** What once was slow. */
  readonly kept?: readonly Partial<Attack>[];
}

const kib = 1024;

/** Imported by their addresses: the types of the library that they use are of a browser. */
const fromPage = (path: string): Promise<unknown> =>
  import(new URL(`../../src/picker/views/${path}`, import.meta.url).href);
const { grammars } = (await fromPage("grammars.ts")) as { readonly grammars: object };
const { colourBlock } = (await fromPage("highlight.ts")) as {
  readonly colourBlock: (text: string, from: number, language: string) => unknown;
};

const names = Array.from(
  { length: 250 },
  (_, index) => `src/${"ab".repeat(index % 60)}/aaaa-${index}/aaaaaaaa.test.ts`,
);
const globs: Parser = {
  name: "globs",
  tokens: ["*", "**", "**/", "?", "{", ",", "}", "{*,*}", "{a,", "[a", "[!", "]", "\\", "a", "/", "Z"],
  maxLength: kib,
  run(pattern) {
    const glob = createGlob(pattern);
    for (const name of names) {
      glob.matches(name);
      glob.mayLead(name);
    }
  },
  kept: [{ before: "**/", unit: "{*,*}", behind: `${"?".repeat(30)}Z` }],
};

const listFilters: Parser = {
  name: "filters of lists",
  tokens: ["*", "**", "?", "*a", "?*", "a", "b", "/", "["],
  maxLength: 4 * kib,
  run(text) {
    const matches = createListFilter({ uriPatterns: text.match(/.{1,256}/gs) ?? [] });
    for (const name of names) matches(name, name);
  },
};

const globPaths: Parser = {
  name: "paths that are held against a glob",
  tokens: ["a", "b", "/", "aa/", ".", "é"],
  maxLength: 64 * kib,
  run(path) {
    for (const pattern of [`${"*a".repeat(100)}*c`, `${"**/a/".repeat(50)}c`, `${"{a,aa,*}".repeat(50)}c`])
      createGlob(pattern).matches(path);
  },
};

const secretTokens = [
  "-----BEGIN PRIVATE KEY-----",
  "-----END PRIVATE KEY-----",
  "-----BEGIN ",
  "\\n",
  "AccountKey=",
  "SharedAccessKey=",
  "password=",
  "token: ",
  'secret" {',
  "default = ",
  'api_key=\\"',
  "sk-",
  "ghp_",
  "github_pat_",
  "-ops_ey",
  "-ATATT3",
  "xoxb-",
  "eyJaaaaaaaaaa.",
  "AKIA",
  "a://b:",
  "://",
  "Bearer ",
  "authorization: Basic ",
  " -u a:",
  "mysql ",
  "helm -p ",
  "docker run ",
  "IDENTIFIED BY '",
  "a:1234:a:a:",
  '"kty"',
  '"d":"',
  "Private-Lines: 1\n",
  "AAAA\n",
  "kind: Secret\n",
  "data:\n",
  "  a: bbbbbbbbbbb\n",
  "---\n",
  "?sig=",
  "パスワードは",
  "cGFzc3dvcmQ9",
  "0123456789abcdef",
];

const secretTexts: readonly Parser[] = [
  {
    name: "secret rules",
    tokens: secretTokens,
    maxLength: 64 * kib,
    run: findSecrets,
    kept: [
      { unit: `${"\\n".repeat(2030)}!-----END PRIVATE KEY-----` },
      { unit: "-----BEGIN PRIVATE KEY-----", behind: "-----END PRIVATE KEY-----" },
      { unit: "AccountKey=" },
    ],
  },
  {
    name: "secrets of a patch",
    tokens: ["+", "-", " ", "AAAA", "@@", ...secretTokens],
    maxLength: 64 * kib,
    run: maskPatch,
  },
  {
    name: "settings that may be shown",
    tokens: ["a", "://", "@", "/", "&", "=", "token", ...secretTokens],
    maxLength: 4 * kib,
    run: (value) => createFacts(["*"], new Uint8Array(32)).of("NAME", value, { variable: "NAME" }),
  },
];

const gathering: readonly Parser[] = [
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

const settings = (format: SettingsFormat, tokens: readonly string[], kept: Parser["kept"] = []): Parser => ({
  name: `settings in ${format}`,
  tokens,
  maxLength: 256 * kib,
  inThread: true,
  run: (text) => parseSettings(text, format),
  kept,
});

const yamlTokens = [
  "a: ",
  "- ",
  "? ",
  ": ",
  "[",
  "{",
  ",",
  "]",
  "}",
  "&a ",
  "*a",
  "<<: *a",
  "!t ",
  "|\n",
  ">\n",
  '"',
  "'",
  "#",
  "---\n",
  "%A\n",
  "\n ",
  "\n  ",
  "\t",
  "\\",
];
const tomlTokens = [
  "a = ",
  "[a]",
  "[[a]]",
  "a.",
  "[a.",
  '"',
  '"""',
  "'''",
  "\\",
  "[",
  "{",
  ",",
  "#",
  "1979-05-27",
  "0x",
  "\n",
  "= 1\n",
];
const jsonTokens = ["{", "[", '"', '"a":', ",", "//", "/*", "*/", "1", "1e", "-", "\\u00", "\\", "true", "]", "}"];

const formats: readonly Parser[] = [
  settings("yaml", yamlTokens),
  settings("toml", tomlTokens),
  settings("json", jsonTokens),
  settings(
    "dotenv",
    ["A=", "export ", '"', "'", "#", " #", "\r", "\\", "-----BEGIN X-----", "-----END X-----", "\n"],
    [{ unit: "\t#", behind: "\u2028x" }],
  ),
  settings(
    "ini",
    ["[a]", "[", "a = ", "a: ", ";", " #", "\n ", '"', "-----BEGIN X-----\n", "-----END X-----\n", "\n"],
    [{ unit: "\t#", before: "a = b", behind: "\n x" }, { unit: "a = -----BEGIN X-----\n-----END X-----\n" }],
  ),
  settings("properties", ["a=", "a:", "a ", "\\", "\\u00", "\\\n", "#", "!", "\f", "\n"]),
  {
    name: "the config in YAML",
    tokens: yamlTokens,
    maxLength: 64 * kib,
    inThread: true,
    run: readYaml,
    kept: [{ unit: "? " }, { unit: "[? " }, { shape: "number", unit: "k", between: ": 1\n" }],
  },
  {
    name: "the config in YAML that is short",
    tokens: yamlTokens,
    maxLength: 8 * kib,
    run: readYaml,
    kept: [{ unit: "? " }, { unit: "[" }, { unit: "{a: " }],
  },
  { name: "settings of a host in TOML", tokens: tomlTokens, maxLength: 256 * kib, run: parseTomlText },
  {
    name: "JSON with comments",
    tokens: jsonTokens,
    maxLength: 256 * kib,
    run: (text) => parseJsonText(text, { comments: true }),
  },
  {
    name: "front matter of a skill",
    tokens: yamlTokens,
    maxLength: 16 * kib,
    inThread: true,
    run: parseBlock,
    kept: [{ shape: "runs", unit: '"[', between: "!t ", behind: "a" }],
  },
  {
    name: "front matter of a skill that is short",
    tokens: yamlTokens,
    maxLength: 2 * kib,
    run: parseBlock,
    kept: [{ unit: "? " }],
  },
];

const docTokens = [
  "# ",
  "## ",
  "`",
  "``",
  "```\n",
  "[",
  "](",
  "![",
  ")",
  "<",
  "</a>",
  "<!--",
  "-->",
  "*",
  "**",
  "_",
  "~~",
  "\\",
  "{#",
  "}",
  "==\n",
  "--\n",
  "====",
  "> ",
  "| ",
  ".. code::\n",
  "::\n",
  "xref:",
  "link:",
  "[[",
  "]]",
  "\n",
  "a ",
  "https://a",
  "<pre>",
  "href='",
];

const docs: readonly Parser[] = (["markdown", "asciidoc", "rst", "html", "text"] as const).flatMap(
  (format: DocsFormat) => [
    {
      name: `headings in ${format}`,
      tokens: docTokens,
      maxLength: 64 * kib,
      run: (text: string) => headingsOf(text, format),
    },
    {
      name: `links in ${format}`,
      tokens: docTokens,
      maxLength: 64 * kib,
      run: (text: string) => listLinks(text, format),
    },
    {
      name: `the language of ${format}`,
      tokens: docTokens,
      maxLength: 16 * kib,
      run: (text: string) => detectLanguage(text, format),
    },
    {
      name: `the language bar of ${format}`,
      tokens: docTokens,
      maxLength: 16 * kib,
      run: (text: string) => languageBar("a.md", text, format),
    },
    {
      name: `front matter in ${format}`,
      tokens: ["---\n", "title: ", "audience: [", ":lang: ", "<title>", "<html lang=", ...docTokens],
      maxLength: 16 * kib,
      run: (text: string) => parseDocumentFrontMatter(text, format),
    },
  ],
);

const markdownTokens = [
  "*",
  "**",
  "_",
  "~~",
  "`",
  "[",
  "](",
  "![",
  ")",
  "<",
  ">",
  "\\",
  "http://",
  "|",
  "|-",
  "- ",
  "1. ",
  "> ",
  "    ",
  "```\n",
  "~~~",
  "# ",
  "---\n",
  "\n",
  "==\n",
];

const page: readonly Parser[] = [
  { name: "Markdown on the page", tokens: markdownTokens, maxLength: 256 * kib, run: blocksOf },
  {
    name: "diffs on the page",
    tokens: ["diff --git a/b b/c\n", "--- a\n", "+++ b\n", "@@ -1 +1 @@\n", "+", "-", " ", "\\ No", "\t", ' "b/'],
    maxLength: 256 * kib,
    run: (text) => parseDiff(text).map(({ lines }) => diffRuns(lines)),
  },
  {
    name: "diagrams on the page",
    tokens: ["erDiagram\n", "a ||--o{ b : c\n", "a {\n", "}\n", "int a PK", "PK, ", '"', "%%", "[", "KF"],
    maxLength: 256 * kib,
    run: (text) => parseErDiagram(`erDiagram\n${text}`),
  },
  {
    name: "tables on the page",
    tokens: ['"', ",", "\t", "a", '""', "\r", "\n", ";"],
    maxLength: 256 * kib,
    run: (text) => parseSeparated(text, "text/csv", true),
  },
  { name: "JSON on the page", tokens: jsonTokens, maxLength: 256 * kib, run: parsePickerJson },
  ...Object.keys(grammars).map((language): Parser => ({
    name: `colours of ${language}`,
    tokens: [
      "a_",
      "$",
      "\\",
      "/*",
      "//",
      "`",
      "${",
      "<a ",
      "</a>",
      "=>",
      "(",
      "#",
      "'''",
      '"""',
      "-- ",
      "{-",
      "begin ",
      "def ",
      "<<EOF\n",
      "0x1",
      "\n",
      "a.b",
      "::",
      'r"',
      "](",
      "***",
      "return /",
      "\\\n",
      "a: ",
      "@media ",
      "<?php ",
      "a<b",
    ],
    maxLength: 16 * kib,
    isShort: true,
    run: (text) => colourBlock(inLines(text), 0, language),
    ...(language === "typescript" && { kept: [{ unit: "a_" }, { unit: "\n" }] }),
  })),
];

/** Longer lines are not coloured. */
function inLines(text: string): string {
  return text.replaceAll(/[^\n]{499}/g, "$&\n");
}

const search: readonly Parser[] = [
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

const template = parseTemplate("a://b/{c}{/d*}{?e,f,g}");
const manyParts = parseTemplate(`a://${"{a}/".repeat(15)}{+b}x{c}{?d*,e}`);
const routes = createRoutes([
  { name: "a", base: "a://b/", source: { list: async () => ({ items: [] }), read: async () => [] } },
]);
const cursors = createCursors(new Uint8Array(32));
const uriTokens = ["a://b/", "/", "//", "%2e", "%", "%41", "..", ".", "?", "&", "=", "#", "c=", "é", "@", ":"];

const addresses: readonly Parser[] = [
  {
    name: "URIs",
    tokens: uriTokens,
    maxLength: 64 * kib,
    run: (uri) => [routes.find(uri), routes.find(`a://b/${uri}`)],
  },
  { name: "URIs of other servers", tokens: uriTokens, maxLength: 64 * kib, run: (uri) => createAddresses().of(uri) },
  {
    name: "URIs that are held against templates",
    tokens: uriTokens,
    maxLength: 64 * kib,
    run: (uri) => [template.match(uri), manyParts.match(uri), template.match(`a://b/${uri}`)],
  },
  {
    name: "templates",
    tokens: ["{", "}", "{+", "{/a*}", "{?a,b}", "a", ",", ":1", "*", "%41", "."],
    maxLength: 8 * kib,
    run: (text) => parseTemplate(text).match("a/b?c"),
  },
  {
    name: "values for templates",
    tokens: uriTokens,
    maxLength: 64 * kib,
    run: (value) => template.expand({ c: value, d: value.split("/"), e: value }),
  },
  {
    name: "templates of other servers",
    tokens: ["{", "}", "a:", "//", "{+", "{a}", "%"],
    maxLength: 64 * kib,
    run: (uriTemplate) => toSourceTemplate({ uriTemplate, name: "a" }),
  },
  {
    name: "cursors",
    tokens: ["A", "_", "-", "=", "."],
    maxLength: 64 * kib,
    run: (cursor) => cursors.open(cursor, "a"),
  },
  {
    name: "data URIs",
    tokens: ["text/plain", ";", ";base64", ";charset=", ",", "%41", "%", "AAAA", " "],
    maxLength: 64 * kib,
    run: async (path) =>
      (await dataSource.open(dataSource.options(z).parse({}), {} as never)).read({ path }, {} as never),
  },
  {
    name: "ranges",
    tokens: ["1", "-", " ", "\t", "lines="],
    maxLength: 64 * kib,
    run: (text) => [parseReadQuery({ lines: text }), parseLineRange("lines", text)],
  },
  { name: "refs of git", tokens: ["HEAD", "~1", "^", "~", "/", ".", "@{", "a"], maxLength: 64 * kib, run: parseRef },
];

const bytes = (text: string): Uint8Array => Buffer.from(text, "latin1");

const files: readonly Parser[] = [
  {
    name: "ignore files",
    tokens: ["*", "**/", "!", "a", "/", "?", "[a-z]", "[[:alpha:]]", "[", "\\", "#", " ", "\n", "*a*"],
    maxLength: 64 * kib,
    run(text) {
      const layer = beginLayer(parseRules(text));
      for (const name of names.slice(0, 20)) judge(layer, name.replaceAll("/", "-"));
    },
  },
  {
    name: "settings of git",
    tokens: ["[core]\n", "[", "excludesFile = ", "\\\n", "\\", '"', ";", "#", "="],
    maxLength: 64 * kib,
    run: excludesFileIn,
  },
  {
    name: "encodings",
    tokens: ["\x1b$B", "\x1b(B", "\x81\x40", "\xa4\xa2", "\xe3\x81\x82", "\xff\xfe", "\0", "a", "\x8e", "\xc3"],
    maxLength: 1024 * kib,
    run: (text) => {
      const found = findEncoding(bytes(text));
      return found && decodeExactly(bytes(text), found.encoding);
    },
  },
  {
    name: "kinds of files",
    tokens: ["PK\x03\x04", "%PDF-", "<svg", "<?xml ", " ", "\0", "\x89PNG"],
    maxLength: 64 * kib,
    run: (text) => sniff(bytes(text)),
  },
  {
    name: "HTML",
    tokens: [
      "<p>",
      "<div>",
      "<table><tr><td>",
      "<script>",
      "</script>",
      "<pre>",
      "<!--",
      "-->",
      "<a href=",
      "&amp;",
      "&#",
      "<",
      ">",
      '"',
      "=",
      "<li>",
      "<br>",
      "\n",
      "<b>",
    ],
    maxLength: 256 * kib,
    inThread: true,
    run: htmlToMarkdown,
    kept: [{ before: "<p>", unit: "<a href=b>c</a> d " }, { unit: "<li>(<a href=" }],
  },
  {
    name: "a cell of a notebook and its output",
    tokens: ["`", "```", "\r", "\n", "\u001b[", "\u001b]", "\u0007", ";base64,", "A", "=", "a"],
    maxLength: 256 * kib,
    inThread: true,
    run(text) {
      const outputs = [{ output_type: "stream", text }];
      const cells = ["markdown", "code"].map((cell_type) => ({ cell_type, source: text, outputs }));
      return notebookToMarkdown(Buffer.from(JSON.stringify({ cells })));
    },
  },
  {
    name: "the encoding of HTML",
    tokens: ["<meta ", "charset", "=", '"', "\xff"],
    maxLength: 64 * kib,
    inThread: true,
    run: (text) => decodeHtml(bytes(text)),
  },
  { name: "entities", tokens: ["&", "&amp;", "&#1", "&#x", ";", "&a"], maxLength: 256 * kib, run: decodeHtmlEntities },
  {
    name: "XML",
    tokens: ["<a>", "</a>", "<a b='", "<![CDATA[", "]]>", "<!--", "<?", "&lt;", "<!DOCTYPE ["],
    maxLength: 256 * kib,
    inThread: true,
    run: (text) => scanXml(text, { open: () => undefined, close: () => undefined, text: () => undefined }),
  },
  {
    name: "Markdown of Google Drive",
    tokens: ["[a]: ", "<data:", ">", "[", "]", "\r", "\n"],
    maxLength: 64 * kib,
    run: withoutPictures,
  },
  {
    name: "the width of a text",
    tokens: ["a", "東", "\u0301", "👩‍💻", "\u200d", "🇩🇪"],
    maxLength: 64 * kib,
    run: displayWidth,
  },
];

const redaction = createLabelMasking({ labels: [], redact: [] });

const others: readonly Parser[] = [
  {
    name: "PromQL",
    tokens: ["a", "{", "}", "(", ")", "[", "]", '"', "'", "`", "\\", "a=", "=~", "by (", ",", "#", "1h", ".", "+"],
    maxLength: 8 * kib,
    run: (text) => {
      typedAt(text);
      return eachLabel(text, () => undefined);
    },
  },
  {
    name: "addresses in the errors of another server",
    tokens: ["a.", "a-", "1.", ":", "a:", "/a", "/", "[", "[::", "a://", "0:", "a:1", "C:\\", "@"],
    maxLength: 64 * kib,
    run: withoutPlaces,
    kept: ["a.", "a-", "1.", ":", "a:", "/a", "/", "[", "[::", "a://", "0:", "a:1"].map((unit) => ({ unit })),
  },
  { name: "conditions of metrics", tokens: [",", "\\", "a=", "!="], maxLength: 8 * kib, run: splitConditions },
  {
    name: "what a metrics server says",
    tokens: ["http://", "https://", "a@", "?", "#", '"', 'a="', "{", "\\"],
    maxLength: 64 * kib,
    run: (text) => [withoutSecrets(text), redaction.cleanSaid(text)],
  },
  {
    name: "spans of time",
    tokens: ["1h", "30m", "1", "2026-01-01", "T", "..", "ms", " "],
    maxLength: 8 * kib,
    run: (text) => [parseDuration(text, "a"), parseSpan(text, 0)],
  },
  {
    name: "robots.txt",
    tokens: ["User-agent: ", "Disallow: /", "Allow: ", "*", "$", "#", "\n", "%41"],
    maxLength: 64 * kib,
    run: (text) => parseRobots(text, "a").allows(text.slice(0, 2000)),
    kept: [{ shape: "halves", unit: "User-agent: ", between: "Allow: /" }],
  },
  {
    name: "sitemaps and llms.txt",
    tokens: ["<urlset>", "<url>", "<loc>", "</loc>", "</url>", "/a", "- [", "](", ")", ": ", "\n", "<!--", "http://a/"],
    maxLength: 1024 * kib,
    run: (text) => [parseSiteMap(text, 5000), parseSiteMap(`<urlset>${text}`, 5000)],
    kept: [{ shape: "nest", before: "</url>", unit: "<loc>\r", between: "http://a/", behind: "<loc>" }],
  },
  {
    name: "the content of a web page",
    tokens: [
      "<main>",
      "</main>",
      "<div role=main>",
      "</div>",
      "<title>",
      "</title>",
      "<base href=/a>",
      "a",
      "<!--",
      "<",
      '"',
    ],
    maxLength: 1024 * kib,
    run: (text) => [findMain(text), readHead(text, "https://a.example/")],
  },
  {
    name: "messages",
    tokens: ["{", "[", '"', '"a":', ",", "1", "\\u0000", "}", "]"],
    maxLength: 1024 * kib,
    run: (text) => parseMessageBytes(Buffer.from(text)),
  },
  {
    name: "the Accept header",
    tokens: ["text/event-stream", "application/json", ",", ";", "q=", "*/*", " "],
    maxLength: 16 * kib,
    run: parseAccept,
  },
  {
    name: "Forwarded and X-Forwarded-For",
    tokens: ["for=", "10.0.0.1", '"', "[::1]", ",", ";", " ", "=", "\\", "proto=https", "host="],
    maxLength: 16 * kib,
    run(text) {
      readForwarded({ forwarded: text }, () => true);
      readXForwarded({ "x-forwarded-for": text, "x-forwarded-host": text, "x-forwarded-proto": text }, () => true);
    },
  },
];

export const parsers: readonly Parser[] = [
  globs,
  listFilters,
  globPaths,
  ...secretTexts,
  ...gathering,
  ...formats,
  ...docs,
  ...page,
  ...search,
  ...addresses,
  ...files,
  ...others,
];
