/** The pages of the site in the order of its sidebar: every page of docs/ is in a group, or is left out with a reason. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

export const docs = join(import.meta.dirname, "../docs");

interface PageGroup {
  readonly title: string;
  /** Paths below docs/ without `.md`. One that does not exist is skipped; `folder/*` is all of a folder that no group names. */
  readonly pages: readonly string[];
  readonly isCollapsed?: boolean;
}

export const english: readonly PageGroup[] = [
  {
    title: "Start",
    pages: ["install", "quick-start", "configuration", "windows", "upgrading", "troubleshooting", "faq", "comparison"],
  },
  { title: "Use", pages: ["picker", "search", "gather", "sets", "terminal", "cli", "tools", "model"] },
  { title: "Sources", pages: ["sources/file", "sources/git", "sources/docs", "sources/*"], isCollapsed: true },
  {
    title: "For a team",
    pages: [
      "team",
      "access",
      "security",
      "deployment",
      "cluster",
      "health",
      "monitoring",
      "bundles",
      "executable",
      "reliability",
      "scale",
      "speed",
    ],
  },
  {
    title: "In a program",
    pages: ["programs", "small-servers", "embedding", "client", "own-sources", "contract", "api", "versioning"],
  },
  { title: "Inside", pages: ["architecture", "revisions", "interop", "glossary", "releasing"] },
  { title: "Decisions", pages: ["decisions/*"], isCollapsed: true },
];

export const japanese: readonly PageGroup[] = [
  { title: "はじめに", pages: ["ja/start", "ja/install", "ja/configuration"] },
  { title: "使う", pages: ["ja/search", "ja/picker", "ja/security", "ja/*"] },
];

/** Pages that are in no group. */
export const leftOut: Readonly<Record<string, string>> = {
  README: "it is the home page",
  "ja/README": "it is the home page in Japanese",
};

/** All pages of docs/, without `.md`. */
export const existing: readonly string[] = readdirSync(docs, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".md"))
  .map((name) => name.slice(0, -".md".length).replaceAll("\\", "/"))
  .sort();

const named = () => new Set([...english, ...japanese].flatMap(({ pages }) => pages));

/** The pages of a group that exist. */
export function pagesOf({ pages }: PageGroup): readonly string[] {
  return pages.flatMap((page) => {
    if (!page.endsWith("/*")) return existing.includes(page) ? [page] : [];
    const folder = page.slice(0, -1);
    const others = existing.filter((each) => each.startsWith(folder) && !each.slice(folder.length).includes("/"));
    return others.filter((each) => !named().has(each) && !Object.hasOwn(leftOut, each));
  });
}

/** The first heading; for a source its name, because its heading is a sentence. */
export function titleOf(page: string): string {
  if (/(?:^|\/)sources\//.test(page)) return basename(page);
  const heading = /^# (.+)$/m.exec(readFileSync(join(docs, `${page}.md`), "utf8"))?.[1];
  return heading?.replaceAll("`", "") ?? page;
}
