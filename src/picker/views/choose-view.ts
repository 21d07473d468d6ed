/** Chooses the renderer of a content. Renderers are loaded on demand. */
import { cutAt } from "../../lib/cut-at.ts";
import type { Load } from "./lazily.tsx";
import { firstPageMark } from "./pages.ts";
import type { ViewProps } from "./view.ts";

type ViewName = keyof typeof views;

export const views = {
  markdown: () => import("./markdown-view.tsx"),
  code: () => import("./code-view.tsx"),
  separated: () => import("./separated-view.tsx"),
  json: () => import("./json-view.tsx"),
  jsonLines: () => import("./json-lines-view.tsx"),
  diff: () => import("./diff-view.tsx"),
  diagram: () => import("./diagram-view.tsx"),
  notebook: () => import("./notebook-view.tsx"),
  pages: () => import("./pages-view.tsx"),
} satisfies Record<string, Load<ViewProps>>;

/** Longer texts are shown as they are, because rendering would take too long. */
const maxLength: Readonly<Partial<Record<ViewName, number>>> = {
  markdown: 256 * 1024,
  json: 8 * 1024 * 1024,
  diagram: 256 * 1024,
  notebook: 16 * 1024 * 1024,
  pages: 2 * 1024 * 1024,
};
/** Only complete texts of these kinds can be parsed. */
const needsAll: ReadonlySet<string> = new Set<ViewName>(["markdown", "json", "diagram", "notebook", "pages"]);

/** The type without parameters, in lowercase. */
export function bareType(type = ""): string {
  return cutAt(type, /;/).trim().toLowerCase();
}

/** Undefined if it is best shown as plain text. */
export function viewFor(type: string, text: string, isWhole: boolean): ViewName | undefined {
  const name = type === "text/plain" && text.startsWith(firstPageMark) ? "pages" : viewOf(type);
  if (name === undefined || text.length > (maxLength[name] ?? Infinity)) return undefined;
  return !isWhole && needsAll.has(name) ? undefined : name;
}

function viewOf(type: string): ViewName | undefined {
  switch (type) {
    case "":
    case "text/plain":
      return undefined;
    case "text/markdown":
      return "markdown";
    case "text/csv":
    case "text/tab-separated-values":
      return "separated";
    case "application/jsonl":
    case "application/x-ndjson":
    case "application/json-lines":
      return "jsonLines";
    case "text/x-diff":
    case "text/x-patch":
      return "diff";
    case "text/vnd.mermaid":
    case "text/x-mermaid":
      return "diagram";
    case "application/x-ipynb+json":
      return "notebook";
    default:
      return type === "application/json" || type === "text/json" || type.endsWith("+json") ? "json" : "code";
  }
}
