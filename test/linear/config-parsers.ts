/** Parsers of settings, secrets and documents. */
import { parsePackage } from "../../src/config/find-package.ts";
import { entryCandidates } from "../../src/config/package-entry.ts";
import { relativeSpecifiers } from "../../src/config/relative-specifiers.ts";
import { readYaml } from "../../src/config/parse-text.ts";
import { parseTomlText } from "../../src/config/hosts/toml-text.ts";
import { parseJsonText } from "../../src/lib/json-text.ts";
import { findSecrets, maskPatch } from "../../src/lib/secrets.ts";
import { createFacts } from "../../src/sources/config/facts.ts";
import { type ConfigFormat as SettingsFormat, parse as parseSettings } from "../../src/sources/config/formats.ts";
import { type DocumentFormat as DocsFormat } from "../../src/sources/docs/formats.ts";
import { parseDocumentFrontMatter } from "../../src/sources/docs/front-matter.ts";
import { headingsOf } from "../../src/sources/docs/headings.ts";
import { detectLanguage } from "../../src/sources/docs/language.ts";
import { languageBar, listLinks } from "../../src/sources/docs/links.ts";
import { parseBlock } from "../../src/lib/skill-front-matter.ts";
import { kib, type Parser } from "./parser.ts";

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

export const secretTexts: readonly Parser[] = [
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
export const jsonTokens = [
  "{",
  "[",
  '"',
  '"a":',
  ",",
  "//",
  "/*",
  "*/",
  "1",
  "1e",
  "-",
  "\\u00",
  "\\",
  "true",
  "]",
  "}",
];

export const formats: readonly Parser[] = [
  {
    name: "relative paths that a program names",
    tokens: ['"', "'", "`", "./", "..", "\\", "\\u{", "0", "}", "\\\n", "\\x2e", "a"],
    maxLength: 1024 * kib,
    run(text) {
      let left = 20_000;
      return relativeSpecifiers(text, () => {
        left -= 1;
        if (left < 0) throw new Error("too many");
      });
    },
  },
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
  {
    name: "the name of a package with a source",
    tokens: ["@", "/", "a", "pressmark-source-", "-", ".", "..", "%2e", "\\"],
    maxLength: 64 * kib,
    run: parsePackage,
  },
  {
    name: "exports of a package",
    tokens: ["*", "./", "a", "/", "../", "a*", "%2e", "node_modules/"],
    maxLength: 64 * kib,
    run: (text) => entryCandidates({ exports: { "./*": `./${text}`, [`./${text}*`]: text } }, `./${"a".repeat(100)}`),
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

export const docs: readonly Parser[] = (["markdown", "asciidoc", "rst", "html", "text"] as const).flatMap(
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
