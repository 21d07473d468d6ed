/** What kind of text a resource holds, as far as its name and type tell, and which language it is written in. */

export type Format = "markdown" | "asciidoc" | "rst" | "braces" | "indents" | "statements" | "plain";

export function formatOf(path: string, mimeType = ""): Format {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const ending = /\.([a-z0-9+]{1,12})$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  const known = byEnding.get(ending);
  if (known) return known;
  const type = mimeType.split(";", 1)[0]!.trim().toLowerCase();
  return byType.get(type) ?? (/^(?:Makefile|Dockerfile|Rakefile|Gemfile)$/.test(name) ? "statements" : "plain");
}

/** Whether people write it for machines. */
export function isCode(format: Format): boolean {
  return format === "braces" || format === "indents" || format === "statements";
}

const endings: Readonly<Record<Exclude<Format, "plain">, string>> = {
  markdown: "md mdx markdown mdown qmd",
  asciidoc: "adoc asciidoc asc",
  rst: "rst rest",
  braces:
    "ts tsx mts cts js jsx mjs cjs java c h cc cpp cxx hpp hh cs go rs kt kts swift scala php dart groovy m mm css scss less vue svelte proto zig sol",
  indents: "py pyi rb ex exs lua nim jl pl pm r coffee",
  statements: "sql sh bash zsh fish ps1 bat cmd tf hcl graphql gql cmake mk awk vim el clj lisp scm hs ml mli erl",
};
const byEnding = new Map(
  Object.entries(endings).flatMap(([format, names]) => names.split(" ").map((name) => [name, format as Format])),
);
const byType = new Map<string, Format>([
  ["text/markdown", "markdown"],
  ["text/asciidoc", "asciidoc"],
  ["text/x-rst", "rst"],
  ["text/prs.fallenstein.rst", "rst"],
  ["text/javascript", "braces"],
  ["application/javascript", "braces"],
  ["application/typescript", "braces"],
  ["text/typescript", "braces"],
  ["text/x-typescript", "braces"],
  ["text/css", "braces"],
  ["text/x-java", "braces"],
  ["text/x-c", "braces"],
  ["text/x-c++", "braces"],
  ["text/x-go", "braces"],
  ["text/x-rust", "braces"],
  ["text/x-python", "indents"],
  ["text/x-ruby", "indents"],
  ["application/x-sh", "statements"],
  ["application/sql", "statements"],
]);

const sampleLength = 4096;

/** Whether these are bytes that only call themselves a text. */
export function isGarbled(text: string): boolean {
  let odd = 0;
  let seen = 0;
  for (const from of [0, Math.max(sampleLength, (text.length >> 1) - sampleLength / 2)]) {
    const to = Math.min(text.length, from + sampleLength);
    for (let at = from; at < to; at += 1) {
      const unit = text.charCodeAt(at);
      seen += 1;
      if ((unit < 0x20 && (unit < 0x09 || unit > 0x0d) && unit !== 0x1b) || unit === 0xfffd || unit === 0x7f) odd += 1;
    }
  }
  return odd > 8 && odd * 10 > seen;
}

/** "ja", "zh", "ko", "en" or "code"; "" where it cannot be told. */
export function languageOf(text: string, format: Format): string {
  if (isCode(format)) return "code";
  const sample = text.slice(0, sampleLength * 2);
  const kana = count(sample, /[\u3041-\u30fa\uff66-\uff9d]/gu);
  const han = count(sample, /\p{Script=Han}/gu);
  const hangul = count(sample, /\p{Script=Hangul}/gu);
  const latin = count(sample, /[A-Za-z]/g);
  if ((kana + han + hangul) * 8 < latin || kana + han + hangul === 0) return isEnglish(sample, latin) ? "en" : "";
  if (hangul > kana + han) return "ko";
  return kana * 20 > han ? "ja" : "zh";
}

function count(text: string, what: RegExp): number {
  return text.match(what)?.length ?? 0;
}

/** One word in ten of any English text is one of these; of other languages that use the letters, hardly any. */
function isEnglish(sample: string, letters: number): boolean {
  if (letters === 0) return false;
  const words = count(sample, /[A-Za-z]+/g);
  const common = count(sample, /\b(?:the|of|and|to|in|is|for|that|with|this|are|be|it|by|from|not|you|can|when)\b/gi);
  const foreign = count(sample, /\b(?:der|die|und|das|le|la|les|des|et|el|los|que|en|di|il|een|het|och|de)\b/gi);
  return common * 20 >= words && common > foreign;
}
