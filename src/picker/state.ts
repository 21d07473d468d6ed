/** The state of the page. */
import type { ErrorKind } from "../errors.ts";
import type { Lines } from "../lib/line-range-uri.ts";
import { defaultBudget } from "../lib/pack-budget.ts";
import type { Content, Hit, Resource, Template } from "../resources.ts";
import { type Filters, noFilters } from "./filter-search.ts";
import type { ReceiptView } from "./receipt.ts";
import { emptyTree, type ResourceTree } from "./tree.ts";
import type { Tray } from "./tray.ts";

export interface PreviewState {
  /** The whole resource, also if some of its lines were requested. */
  readonly resource: Resource;
  /** The requested lines, as a resource of their own. */
  readonly passage?: Resource;
  /** The lines of the passage: another array for each request. */
  readonly lines?: Lines;
  /** The hit that the passage is from. */
  readonly hit?: Hit;
  readonly status: "loading" | "ready" | "failed";
  readonly problem?: string;
  readonly problemKind?: ErrorKind;
  readonly contents: readonly Content[];
  /** True if the contents are the extracted text of a document. */
  readonly isTaken: boolean;
  /** Why no text could be extracted. */
  readonly note?: string;
  /** The document's own content, if that is text. */
  readonly original?: readonly Content[];
  /** URI of the next part. */
  readonly next?: string;
  /** URI of the lines before the first part, if that does not begin at line 1. */
  readonly previous?: string;
  /** True if the resource is too large for one read. */
  readonly isPartial: boolean;
  readonly isLoadingMore: boolean;
  readonly isGone: boolean;
  /** Time of the last change while it was shown. */
  readonly updatedAt?: string;
}

interface Search {
  /** The typed text, without what is still being composed. */
  readonly text: string;
  readonly filters: Filters;
  readonly status: "idle" | "loading" | "ready" | "failed";
  /** Matches first, then hits that are only similar. */
  readonly hits: readonly Hit[];
  readonly matchCount: number;
  /** True if there may be more hits. */
  readonly hasMore: boolean;
  readonly ready: number;
  /** Messages of mounts that were not searched completely. */
  readonly failures: readonly string[];
  readonly problem?: string;
}

/** A template that is being filled in, one variable after the other. */
export interface Filling {
  readonly template: Template;
  readonly variables: readonly Variable[];
  readonly values: Readonly<Record<string, string>>;
  /** Index of the current variable; equals their number once all are set. */
  readonly at: number;
  /** For the text typed so far. */
  readonly suggestions: readonly string[];
  readonly hasMore: boolean;
  readonly isAsking: boolean;
  /** The expanded URI, without missing variables. */
  readonly uri: string;
  readonly problem?: string;
}

export interface Variable {
  readonly name: string;
  /** True if the template can be expanded without it. */
  readonly isOptional: boolean;
  /** True if its value may contain slashes. */
  readonly isPath: boolean;
}

export interface Templates {
  readonly status: "idle" | "loading" | "ready" | "failed";
  readonly items: readonly Template[];
  readonly problem?: string;
  readonly filling?: Filling;
}

interface GatherState {
  /** The last task. */
  readonly task?: string;
  readonly status: "idle" | "loading" | "ready" | "failed";
  readonly problem?: string;
  readonly receipt?: ReceiptView;
  /** The text for a model. */
  readonly text: string;
}

interface SavedSetsState {
  readonly status: "idle" | "loading" | "ready" | "failed";
  readonly items: readonly Resource[];
  readonly problem?: string;
}

export type PageView = "tree" | "templates" | "gather";

export interface State {
  readonly connection: "connecting" | "ready" | "failed";
  /** True if the last request got no response: what is shown may be outdated. */
  readonly isLost: boolean;
  readonly problem?: string;
  readonly problemKind?: ErrorKind;
  /** The names of the server's tools. */
  readonly tools: ReadonlySet<string>;
  readonly view: PageView;
  readonly tree: ResourceTree;
  /** The URI that the tree should scroll to, once it is loaded. */
  readonly revealed: string | undefined;
  readonly preview?: PreviewState;
  readonly search: Search;
  readonly templates: Templates;
  readonly gathering: GatherState;
  readonly tray: Tray;
  readonly sets: SavedSetsState;
  /** The set that was saved or opened last. */
  readonly savedSet?: {
    readonly name: string;
    /** The name of its prompt, if the server tells it. */
    readonly prompt: string | undefined;
    /** The choice that it was, as `choiceKey` gives it. */
    readonly key: string;
  };
  readonly budget: number;
}

export const noSearch: Search = {
  text: "",
  filters: noFilters,
  status: "idle",
  hits: [],
  matchCount: 0,
  hasMore: false,
  ready: 1,
  failures: [],
};

export const firstState: State = {
  connection: "connecting",
  isLost: false,
  tools: new Set(),
  view: "tree",
  tree: emptyTree,
  revealed: undefined,
  search: noSearch,
  templates: { status: "idle", items: [] },
  gathering: { status: "idle", text: "" },
  tray: [],
  sets: { status: "idle", items: [] },
  budget: defaultBudget,
};
