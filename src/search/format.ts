/** Detects the kind of a text from its name and type, and the language in which it is written. */

const codeFormats = [
  "script",
  "python",
  "go",
  "rust",
  "java",
  "c",
  "csharp",
  "ruby",
  "php",
  "kotlin",
  "swift",
  "shell",
  "sql",
  // Other languages, by how they mark what belongs together.
  "braces",
  "indents",
  "statements",
] as const;
export type CodeFormat = (typeof codeFormats)[number];

export type TextFormat = "markdown" | "asciidoc" | "rst" | "keys" | "plain" | CodeFormat;

export function textFormatOf(path: string, mimeType = ""): TextFormat {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const ending = /\.([a-z0-9+]{1,12})$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  const known = byEnding.get(ending);
  if (known) return known;
  const type = mimeType.split(";", 1)[0]!.trim().toLowerCase();
  return byType.get(type) ?? byFileName.get(name) ?? "plain";
}

/** True for program code. */
export function isCode(format: TextFormat): format is CodeFormat {
  return (codeFormats as readonly TextFormat[]).includes(format);
}

const endings: Readonly<Record<Exclude<TextFormat, "plain">, string>> = {
  markdown: "md mdx markdown mdown qmd ipynb",
  asciidoc: "adoc asciidoc asc",
  rst: "rst rest",
  keys: "yaml yml toml json json5 jsonc",
  script: "ts tsx mts cts js jsx mjs cjs",
  python: "py pyi pyw",
  go: "go",
  rust: "rs",
  java: "java",
  c: "c h cc cpp cxx hpp hh hxx",
  csharp: "cs",
  ruby: "rb rake gemspec",
  php: "php",
  kotlin: "kt kts",
  swift: "swift",
  shell: "sh bash zsh ksh",
  sql: "sql",
  braces: "scala dart groovy m mm css scss less vue svelte proto zig sol",
  indents: "ex exs lua nim jl pl pm r coffee",
  statements: "fish ps1 bat cmd tf hcl graphql gql cmake mk awk vim el clj lisp scm hs ml mli erl",
};
const byEnding = byName(endings);
const types: Readonly<Partial<Record<TextFormat, string>>> = {
  markdown: "text/markdown",
  asciidoc: "text/asciidoc",
  rst: "text/x-rst text/prs.fallenstein.rst",
  script: "text/javascript application/javascript application/typescript text/typescript text/x-typescript",
  python: "text/x-python",
  go: "text/x-go",
  rust: "text/x-rust",
  java: "text/x-java",
  c: "text/x-c text/x-c++",
  ruby: "text/x-ruby",
  shell: "application/x-sh",
  sql: "application/sql",
  braces: "text/css",
};
const byType = byName(types);
const byFileName = byName({ statements: "Makefile Dockerfile", ruby: "Rakefile Gemfile" });

/** From lists of names to a map by name. */
function byName(lists: Readonly<Partial<Record<TextFormat, string>>>): Map<string, TextFormat> {
  return new Map(
    Object.entries(lists).flatMap(([format, names]) => names.split(" ").map((name) => [name, format as TextFormat])),
  );
}

const sampleLength = 1024;

/** True for binary data labelled as text. */
export function isGarbled(text: string): boolean {
  let odd = 0;
  let seen = 0;
  for (const from of [0, Math.max(sampleLength, (text.length - sampleLength) >> 1)]) {
    const to = Math.min(text.length, from + sampleLength);
    for (let at = from; at < to; at += 1) {
      const unit = text.charCodeAt(at);
      seen += 1;
      if ((unit < 0x20 && (unit < 0x09 || unit > 0x0d) && unit !== 0x1b) || unit === 0xfffd || unit === 0x7f) odd += 1;
    }
  }
  return odd > 8 && odd * 10 > seen;
}

/** "ja", "zh", "ko", "en" or "code"; "" if unknown. */
export function textLanguageOf(text: string, format: TextFormat): string {
  if (isCode(format)) return "code";
  const middle = Math.max(languageSample, (text.length - languageSample) >> 1);
  const sample = text.slice(0, languageSample) + text.slice(middle, middle + languageSample);
  let kana = 0;
  let han = 0;
  let hangul = 0;
  let latin = 0;
  for (let at = 0; at < sample.length; at += 1) {
    const unit = sample.charCodeAt(at);
    if (unit < 0x80) latin += (unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a ? 1 : 0;
    else if ((unit >= 0x3041 && unit <= 0x30fa) || (unit >= 0xff66 && unit <= 0xff9d)) kana += 1;
    else if ((unit >= 0x3400 && unit <= 0x9fff) || (unit >= 0xd840 && unit <= 0xd88f)) han += 1;
    else if ((unit >= 0xac00 && unit <= 0xd7a3) || (unit >= 0x1100 && unit <= 0x11ff)) hangul += 1;
  }
  if ((kana + han + hangul) * 8 < latin || kana + han + hangul === 0) return latin > 0 && isEnglish(text) ? "en" : "";
  if (hangul > kana + han) return "ko";
  return kana * 20 > han ? "ja" : "zh";
}

const languageSample = 300;

/** English text contains some of these words, and more of them than of those of related languages. */
function isEnglish(text: string): boolean {
  const sample = ` ${text.slice(0, languageSample).toLowerCase()} `;
  const count = (words: readonly string[]): number => words.filter((word) => sample.includes(` ${word} `)).length;
  const english = count(englishWords);
  return english > (sample.length < 200 ? 0 : 1) && english > count(foreignWords);
}

const englishWords = "the of and to is in for that are".split(" ");
const foreignWords = "der und die le les des el que de il een och".split(" ");
