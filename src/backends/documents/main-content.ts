/** The content of a web page as Markdown, without what surrounds it on every page of its site. */
import { type HtmlOptions, htmlToMarkdown, titleText } from "./html.ts";
import { attributeOf, scanHtml } from "./html-tags.ts";

/** A larger page without a main element is converted as a whole: the library would take seconds and hundreds of megabytes. */
const maxSearched = 512 * 1024;

/** A main element with less text is not trusted if the page has much more: it may be a frame that scripts fill. */
const maxTinyProse = 500;

interface PageHead {
  readonly title: string;
  /** URL that links are relative to. */
  readonly base: string;
}

export function readHead(html: string, url: string): PageHead {
  let title = "";
  let base = url;
  scanHtml(html, {
    tag({ name, rest, isEnd }) {
      if (name === "base") base = URL.parse(titleText(attributeOf(rest, "href") ?? ""), url)?.href ?? url;
      return name === "body" || name === "svg" || (isEnd && name === "head");
    },
    title(text) {
      title ||= titleText(text);
    },
  });
  return { title, base };
}

/** The content of the only main element (`<main>` or `role="main"`). Undefined if there is none, or several. */
export function findMain(html: string): string | undefined {
  let found: { readonly name: string; readonly start: number; end?: number } | undefined;
  let depth = 0;
  let isAmbiguous = false;
  scanHtml(html, {
    tag({ name, rest, isEnd, isEmpty, start, end }) {
      if (found && found.end === undefined) {
        if (name !== found.name || isEmpty) return;
        depth += isEnd ? -1 : 1;
        if (depth === 0) found.end = start;
      } else if (!isEnd && !isEmpty && isMain(name, rest)) {
        isAmbiguous = found !== undefined;
        found ??= { name, start: end };
        depth = 1;
      }
      return isAmbiguous;
    },
  });
  return found && !isAmbiguous ? html.slice(found.start, found.end) : undefined;
}

function isMain(name: string, rest: string): boolean {
  return name === "main" || (rest.includes("main") && attributeOf(rest, "role") === "main");
}

/** Whether the library is needed to find the content: it is run only in the process that is limited in time and memory. */
export function needsSearch(html: string): boolean {
  return html.length <= maxSearched && findMain(html) === undefined;
}

/** By the main element of the page, unless it is a tiny part; else, by the library if it is installed; else without what is marked as navigation. */
export async function pageToMarkdown(html: string, url: string, load = loadFinder): Promise<string> {
  const { title, base } = readHead(html, url);
  const options = { title, base, isContent: true };
  const main = findMain(html);
  if (main !== undefined) {
    const content = contentOf(main, options);
    if (proseIn(content) >= maxTinyProse) return content;
    const all = contentOf(html, options);
    // Not by the library: this may be the server's own process.
    return proseIn(content) < proseIn(all) / 5 ? all : content;
  }
  const whole = contentOf(html, options);
  const find = html.length > maxSearched ? undefined : await load();
  const found = htmlToMarkdown(find?.(html, url) ?? "", options);
  return isPart(found, whole) ? whole : found;
}

/** Without navigation, unless nothing else is left: an element for it may not be closed. */
function contentOf(html: string, options: HtmlOptions): string {
  const content = htmlToMarkdown(html, options);
  return content.includes("\n\n") ? content : htmlToMarkdown(html, { ...options, isContent: false });
}

/** Number of characters outside of links: menus do not count. */
function proseIn(markdown: string): number {
  return markdown.replaceAll(/\[[^[\]]{0,300}\]\([^()\s]{0,2000}\)|[-\s]/g, "").length;
}

/** Whether the library took a small part of the content for all of it. */
function isPart(found: string, whole: string): boolean {
  return found.length < whole.length / 5 || fencesIn(found) < fencesIn(whole) / 2;
}

function fencesIn(markdown: string): number {
  return markdown.match(/^(?:```|~~~~)/gm)?.length ?? 0;
}

/** Its own types are those of a browser. */
interface Library {
  readonly default: new (
    document: unknown,
    options: { readonly url: string; readonly useAsync: boolean; readonly standardize: boolean },
  ) => { parse(): { readonly content: string } };
}

type FindContent = (html: string, url: string) => string;

/** Undefined if the optional packages are not installed. */
async function loadFinder(): Promise<FindContent | undefined> {
  try {
    const [{ default: Defuddle }, { parseHTML }] = await Promise.all([
      import("defuddle") as Promise<unknown> as Promise<Library>,
      import("linkedom"),
    ]);
    return (html, url) => {
      try {
        // The parser does not add a missing body. `parse` is the form that requests nothing from the network.
        const { document } = parseHTML(/<body[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`);
        // Standardizing puts spaces around links and emphasis, which is wrong in Japanese.
        return new Defuddle(document, { url, useAsync: false, standardize: false }).parse().content;
      } catch {
        // A page that the library cannot read is converted without it.
        return "";
      }
    };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    return undefined;
  }
}
