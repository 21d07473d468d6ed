/**
 * Compares ways to find the content of a web page, on ten pages of Debian's documentation packages:
 *   apt-get install python3-doc postgresql-doc sqlite3-doc git-doc apache2-doc debian-reference-ja developers-reference-ja
 *   npm install --no-save @mozilla/readability
 *   node bench/main-content.ts
 * The content that a page should give is selected by hand, for each generator of pages.
 */
import { readFileSync } from "node:fs";
import { htmlToMarkdown } from "../src/backends/documents/html.ts";
import { pageToMarkdown } from "../src/backends/documents/main-content.ts";

interface TestPage {
  readonly file: string;
  /** Its content, and what is left out of it. */
  readonly content: string;
  readonly without?: string;
}

const docBook = { content: "body", without: ".navheader,.navfooter" };
const sphinx = { content: "[role=main]" };
const pages: readonly TestPage[] = [
  { file: "/usr/share/doc/python3-doc/html/library/argparse.html", ...sphinx },
  { file: "/usr/share/doc/python3-doc/html/tutorial/controlflow.html", ...sphinx },
  { file: "/usr/share/doc/python3-doc/html/library/index.html", ...sphinx },
  { file: "/usr/share/doc/postgresql-doc-15/html/sql-createtable.html", ...docBook },
  { file: "/usr/share/doc/postgresql-doc-15/html/functions-json.html", ...docBook },
  { file: "/usr/share/doc/sqlite3/datatype3.html", content: "body", without: ".nosearch" },
  { file: "/usr/share/doc/git/html/git-rebase.html", content: "#content" },
  { file: "/usr/share/doc/apache2-doc/manual/ja/howto/htaccess.html", content: "#page-content" },
  { file: "/usr/share/debian-reference/ch02.ja.html", ...docBook },
  { file: "/usr/share/developers-reference/ja/best-pkging-practices.html", ...sphinx },
];

const url = "https://docs.example/page.html";

/** As much of the browser's interfaces as is used here. */
interface PageElement {
  readonly textContent: string;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
  remove(): void;
}
type Extractor = new (document: unknown, options: object) => { parse(): { readonly content: string } | null };

const linkedom = await import("linkedom");
const parse = (html: string) => linkedom.parseHTML(html).document as unknown as PageElement;
const { default: Defuddle } = (await import("defuddle")) as unknown as { default: Extractor };
// Not a dependency of the project.
const readability: unknown = await import("@mozilla/readability" as string).catch(() => ({}));
const { Readability } = readability as { Readability?: Extractor };

type Convert = (html: string) => string | Promise<string>;
const byDefuddle =
  (standardize: boolean): Convert =>
  (html) =>
    htmlToMarkdown(new Defuddle(parse(html), { url, useAsync: false, standardize }).parse()?.content ?? "");
const contestants: Readonly<Record<string, Convert>> = {
  "the whole page": (html) => htmlToMarkdown(html),
  ...(Readability && {
    readability: (html: string) =>
      htmlToMarkdown(new Readability(parse(html), { keepClasses: true }).parse()?.content ?? ""),
  }),
  defuddle: byDefuddle(true),
  "defuddle, not standardized": byDefuddle(false),
  "ours without a library": (html) => pageToMarkdown(html, url, async () => undefined),
  ours: (html) => pageToMarkdown(html, url),
};

function wordsIn(text: string): Map<string, number> {
  const words = new Map<string, number>();
  const found = text.normalize("NFKC").match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}_]+/gu);
  for (const word of found ?? []) words.set(word, (words.get(word) ?? 0) + 1);
  return words;
}

const sum = (words: Map<string, number>) => [...words.values()].reduce((all, count) => all + count, 0);
const common = (one: Map<string, number>, other: Map<string, number>) =>
  [...one].reduce((all, [word, count]) => all + Math.min(count, other.get(word) ?? 0), 0);
/** White space inside Japanese text counts. */
const plain = (text: string) =>
  text
    .replaceAll(/\]\([^)\s]*\)/g, "")
    .replaceAll(/[[\]`\\|]|<br>|^[#>\- ]+/gm, "")
    .replaceAll(/(?<=[\u3000-\u9fff\uff00-\uffef])\n\s*(?=[\u3000-\u9fff\uff00-\uffef])/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
const dense = (text: string) => plain(text).replaceAll(" ", "");
const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

/** What a page should give. */
function expected({ file, content, without }: TestPage) {
  const html = readFileSync(file, "utf8");
  const main = parse(html).querySelector(content);
  if (!main) throw new Error(`${file} has no ${content}`);
  for (const each of main.querySelectorAll(`script,style,svg,button,.headerlink${without ? `,${without}` : ""}`))
    each.remove();
  const texts = (selector: string): string[] => [...main.querySelectorAll(selector)].map((each) => each.textContent);
  return { html, words: wordsIn(main.textContent), code: texts("pre"), paragraphs: texts("p") };
}

console.log(
  "| | text kept | paragraphs intact | other text | code lost | CPU |\n| --- | --- | --- | --- | --- | --- |",
);
for (const [name, convert] of Object.entries(contestants)) {
  let [kept, other, intact, paragraphCount, lost, codeCount, cpuMs] = [0, 0, 0, 0, 0, 0, 0];
  for (const page of pages) {
    const { html, words, code, paragraphs } = expected(page);
    const before = process.cpuUsage();
    const markdown = await convert(html);
    const { user, system } = process.cpuUsage(before);
    cpuMs += (user + system) / 1000;
    const text = plain(markdown);
    const found = wordsIn(text);
    const shared = common(words, found);
    kept += shared / sum(words) / pages.length;
    other += (sum(found) - shared) / Math.max(1, sum(found)) / pages.length;
    const squeezed = dense(markdown);
    lost += code.filter((each) => !squeezed.includes(dense(each))).length;
    codeCount += code.length;
    intact += paragraphs.filter((each) => text.includes(plain(each))).length;
    paragraphCount += paragraphs.length;
  }
  const row = [name, percent(kept), percent(intact / paragraphCount), percent(other), `${lost} of ${codeCount}`];
  console.log(`| ${[...row, `${Math.round(cpuMs)} ms`].join(" | ")} |`);
}
