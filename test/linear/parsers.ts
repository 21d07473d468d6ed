/** Every parser and matcher that sees what a client sends, what is in a file, or what another server says. */
import { parseMetrics } from "../../src/cli/top/parse-metrics.ts";
import { displayWidth } from "../../src/lib/display-width.ts";
import { decodeHtmlEntities } from "../../src/lib/html-entities.ts";
import { decodeHtml, htmlToMarkdown } from "../../src/backends/documents/html.ts";
import { findMain, readHead } from "../../src/backends/documents/main-content.ts";
import { notebookToMarkdown } from "../../src/backends/documents/notebook.ts";
import { scanXml } from "../../src/backends/documents/xml.ts";
import { sniff } from "../../src/lib/sniff.ts";
import { decodeExactly, findEncoding } from "../../src/lib/text-encoding.ts";
import { withoutPlaces } from "../../src/lib/without-locations.ts";
import { blocksOf, blocksOfHtml } from "../../src/picker/markdown.ts";
import { parseDiff, diffPairs } from "../../src/picker/views/diff.ts";
import { parseErDiagram } from "../../src/picker/views/er.ts";
import { parseJsonView as parsePickerJson } from "../../src/picker/views/json.ts";
import { parseNotebookView } from "../../src/picker/views/notebook.ts";
import { pagesOf } from "../../src/picker/views/pages.ts";
import { parseSeparated } from "../../src/picker/views/separated.ts";
import { excludesFileIn } from "../../src/backends/folder-rules/git-excludes.ts";
import { beginLayer, judge, parseRules } from "../../src/backends/folder-rules/ignore-rules.ts";
import { withoutPictures } from "../../src/sources/gdrive/formats.ts";
import { splitConditions } from "../../src/sources/metrics/metrics-request.ts";
import { createLabelMasking } from "../../src/sources/metrics/label-masking.ts";
import { eachLabel, typedAt } from "../../src/sources/metrics/promql.ts";
import { withoutSecrets } from "../../src/sources/metrics/state.ts";
import { parseDuration, parseTimeRange as parseSpan } from "../../src/sources/metrics/times.ts";
import { parseSiteMap } from "../../src/sources/web/parse-site-map.ts";
import { parseRobots } from "../../src/sources/web/robots.ts";
import { parseAccept } from "../../src/transport/accepts.ts";
import { readForwarded, readXForwarded } from "../../src/transport/forwarded.ts";
import { createPathLocator } from "../../src/transport/locate-path.ts";
import { parseMessageBytes } from "../../src/transport/parse-message.ts";
import { addresses, patterns } from "./address-parsers.ts";
import { docs, formats, jsonTokens, secretTexts } from "./config-parsers.ts";
import { kib, names, type Parser } from "./parser.ts";
import { gathering, search } from "./search-parsers.ts";

/** Imported by their addresses: the types of the library that they use are of a browser. */
const fromPage = (path: string): Promise<unknown> =>
  import(new URL(`../../src/picker/views/${path}`, import.meta.url).href);
const { grammars } = (await fromPage("grammars.ts")) as { readonly grammars: object };
const { colourBlock } = (await fromPage("highlight.ts")) as {
  readonly colourBlock: (text: string, from: number, language: string) => unknown;
};

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
    name: "HTML on the page",
    tokens: [
      "<a ",
      "<b>",
      "</b>",
      "<p>",
      "<li>",
      "<ul>",
      "<td>",
      "<pre>",
      "<style>",
      "</",
      "<!--",
      "-->",
      'b="',
      "'",
      "=",
      ">",
      "&a",
      "&#1;",
      " ",
      "\n",
      "\n\n",
    ],
    maxLength: 64 * kib,
    run: (text) => [blocksOf(text), blocksOfHtml(text)],
    kept: [{ unit: "<a b='<a c=\"" }, { unit: "<!--\n" }, { unit: "<pre>\n" }],
  },
  {
    name: "diffs on the page",
    tokens: ["diff --git a/b b/c\n", "--- a\n", "+++ b\n", "@@ -1 +1 @@\n", "+", "-", " ", "\\ No", "\t", ' "b/'],
    maxLength: 256 * kib,
    run: (text) => parseDiff(text).map(({ lines }) => diffPairs(lines)),
  },
  {
    name: "notebooks and pages on the page",
    tokens: ["\u001b[", "\u001b]", "\u0007", "1;", "\r", "\n", "a", "[page 1]\n", "[page 2]\n", "AAAA"],
    maxLength: 256 * kib,
    run(text) {
      const outputs = [{ output_type: "stream", text }, { data: { "image/png": text } }];
      return [
        parseNotebookView(JSON.stringify({ cells: [{ cell_type: "code", source: text, outputs }] })),
        pagesOf(text),
      ];
    },
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
    name: "figures of another server",
    tokens: ["pressmark_info", "{", "}", 'a="', '"', ",", " 1", "\n", "# ", "="],
    maxLength: 1024 * kib,
    run: parseMetrics,
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
    name: "path of a mounted handler",
    tokens: ["/", "\\", "/mcp", "/sse", "?", "a"],
    maxLength: 16 * kib,
    run(text) {
      const locate = createPathLocator({ endpoint: "/mcp" });
      locate("/", text);
      locate("/sse", text);
      createPathLocator({ endpoint: "/mcp", basePath: "/a" })(text);
    },
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
  ...patterns,
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
