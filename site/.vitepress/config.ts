/** The site: the pages of docs/ as they are, with a sidebar, a search and a home page. */
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { type DefaultTheme, defineConfig, type MarkdownOptions, type Plugin } from "vitepress";
import { slugOf } from "../../src/sources/docs/headings.ts";
import { docs, english, existing, japanese, pagesOf, titleOf } from "../pages.ts";
import { home, japaneseHome } from "./home.ts";
import { tokenize } from "./tokenize.ts";

const root = join(import.meta.dirname, "../..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly description: string;
  readonly repository?: { readonly url: string };
};
const repository = manifest.repository?.url.replace(/^git\+/, "").replace(/\.git$/, "");
const icon = `data:image/svg+xml,${encodeURIComponent(readFileSync(join(root, "src/picker/icon.svg"), "utf8"))}`;

function sidebar(groups: typeof english): DefaultTheme.SidebarItem[] {
  return groups.flatMap((group) => {
    const items = pagesOf(group).map((page) => ({ text: titleOf(page), link: `/${page}` }));
    return items.length > 0 ? [{ text: group.title, items, collapsed: group.isCollapsed ?? false }] : [];
  });
}

/** The first of these pages that exists. */
const firstOf = (...pages: readonly string[]) =>
  `/${pages.find((page) => existing.includes(page)) ?? ""}`.replace(/README$/, "");

type Markdown = Parameters<NonNullable<MarkdownOptions["config"]>>[0];

/** Links lead to the names that pages have on the site; files that are not on it are shown where the repository is. */
function linksOfSite(md: Markdown): void {
  md.core.ruler.push("links-of-site", ({ tokens, env }) => {
    const page = (env as { readonly relativePath: string }).relativePath;
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.attrGet("href");
      if (token.type !== "link_open" || href === null || /^(?:[a-z]+:|#|\/)/.test(href)) continue;
      const target = normalize(join("docs", dirname(page), href));
      if (target.startsWith("docs/")) token.attrSet("href", href.replace(/README\.md(?=#|$)/, "index.md"));
      else if (repository === undefined) token.attrSet("href", "#");
      else token.attrSet("href", `${repository}/blob/main/${target}`);
    }
  });
}

const fromPage = (file: string) => (file.startsWith(".") ? file : `./${file}`);

/** A picture for each theme, which the button changes too: `prefers-color-scheme` alone follows the system. */
function picturesByTheme(md: Markdown): void {
  const picture =
    /<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*<img alt="([^"]*)" src="([^"]+)">\s*<\/picture>/g;
  md.core.ruler.before("normalize", "pictures-by-theme", (state) => {
    state.src = state.src.replaceAll(
      picture,
      (_, dark: string, alt: string, light: string) =>
        `<img class="light-only" alt="${alt}" src="${fromPage(light)}"><img class="dark-only" alt="${alt}" src="${fromPage(dark)}">`,
    );
  });
}

/** The pages are not below this folder, where the packages are. */
const packagesOfSite: Plugin = {
  name: "packages-of-site",
  enforce: "pre",
  resolveId(id, importer, { ssr }) {
    if (!/^vue(?:\/|$)/.test(id)) return undefined;
    if (ssr) return { id, external: true };
    return importer?.startsWith(docs)
      ? this.resolve(id, join(import.meta.dirname, "config.ts"), { skipSelf: true })
      : undefined;
  },
};

const searchTexts = {
  button: { buttonText: "検索", buttonAriaLabel: "検索" },
  modal: {
    displayDetails: "詳細を表示",
    resetButtonTitle: "検索をやめる",
    backButtonTitle: "閉じる",
    noResultsText: "見つかりません:",
    footer: { selectText: "開く", navigateText: "移動", closeText: "閉じる" },
  },
};

export default defineConfig({
  title: "Pressmark",
  description: manifest.description,
  base: process.env["SITE_BASE"] ?? "/",
  srcDir: docs,
  outDir: join(import.meta.dirname, "../dist"),
  rewrites: { "README.md": "index.md", "ja/README.md": "ja/index.md" },
  // The index of the search is one chunk, which is loaded when the search is opened.
  vite: { plugins: [packagesOfSite], build: { chunkSizeWarningLimit: 2000 } },
  head: [["link", { rel: "icon", href: icon }]],
  markdown: {
    anchor: { slugify: slugOf },
    config(md) {
      linksOfSite(md);
      picturesByTheme(md);
    },
  },
  transformPageData(page) {
    const isHome = page.relativePath === "index.md" || page.relativePath === "ja/index.md";
    if (!isHome) return;
    Object.assign(page.frontmatter, page.relativePath === "index.md" ? home(firstOf) : japaneseHome(firstOf));
  },
  /** The schemas have the addresses that the pages name; pictures are among the assets. */
  buildEnd({ outDir }) {
    for (const name of readdirSync(docs)) if (name.endsWith(".json")) cpSync(join(docs, name), join(outDir, name));
  },
  locales: {
    root: {
      label: "English",
      lang: "en",
      themeConfig: {
        nav: [
          { text: "Start", link: firstOf("quick-start", "install", "configuration") },
          { text: "Sources", link: "/sources/file" },
          { text: "Command", link: "/cli" },
        ],
        sidebar: sidebar(english),
      },
    },
    ja: {
      label: "日本語",
      lang: "ja",
      description: "言語モデルが読むべきものすべてを、MCP リソースとして",
      themeConfig: {
        nav: [
          { text: "はじめに", link: firstOf("ja/start", "ja/install", "ja/README") },
          { text: "English", link: "/" },
        ],
        sidebar: sidebar(japanese),
        outline: { label: "目次" },
        docFooter: { prev: "前へ", next: "次へ" },
        darkModeSwitchLabel: "配色",
        sidebarMenuLabel: "メニュー",
        returnToTopLabel: "先頭へ",
        langMenuLabel: "言語",
      },
    },
  },
  themeConfig: {
    logo: icon,
    outline: [2, 3],
    // Not every page has a translation: the other language begins at its home page.
    i18nRouting: false,
    ...(repository !== undefined && { socialLinks: [{ icon: "github", link: repository }] }),
    search: {
      provider: "local",
      options: {
        miniSearch: {
          options: { tokenize },
          // Pairs of characters are all needed, and are right or wrong: nothing is guessed from a similar one.
          searchOptions: { combineWith: "AND", fuzzy: false, prefix: true, boost: { title: 4, text: 2, titles: 1 } },
        },
        locales: { ja: { translations: searchTexts } },
      },
    },
  },
});
