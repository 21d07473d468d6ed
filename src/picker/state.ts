/** All that the page shows. */
import type { ErrorKind } from "../errors.ts";
import type { Content, Hit, Resource, Template } from "../resources.ts";
import { type Filters, noFilters } from "./filter-search.ts";
import type { ReceiptView } from "./receipt.ts";
import { emptyTree, type ResourceTree } from "./tree.ts";
import type { Tray } from "./tray.ts";

export interface PreviewState {
  readonly resource: Resource;
  readonly status: "loading" | "ready" | "failed";
  readonly problem?: string;
  readonly problemKind?: ErrorKind;
  readonly contents: readonly Content[];
  /** Whether the contents are the text that was taken out of a document. */
  readonly isTaken: boolean;
  /** Why no text could be taken out of it. */
  readonly note?: string;
  /** What the text was taken out of, where that is text itself. */
  readonly original?: readonly Content[];
  /** The URI of the part after those that are here. */
  readonly next?: string;
  /** Whether the resource is too large to be read at once. */
  readonly isPartial: boolean;
  readonly isLoadingMore: boolean;
  readonly isGone: boolean;
  /** When it last changed under the person's eyes. */
  readonly updatedAt?: string;
}

export interface Search {
  /** What was typed last, not what is still being composed. */
  readonly text: string;
  readonly filters: Filters;
  readonly status: "idle" | "loading" | "ready" | "failed";
  readonly hits: readonly Hit[];
  /** Whether there may be more than these. */
  readonly hasMore: boolean;
  readonly ready: number;
  /** Where not all was searched because something went wrong, a sentence each. */
  readonly failures: readonly string[];
  readonly problem?: string;
}

/** A template that is being filled in, one variable after the other. */
export interface Filling {
  readonly template: Template;
  readonly variables: readonly Variable[];
  readonly values: Readonly<Record<string, string>>;
  /** The place of the variable that is being filled in; as many as there are once all are. */
  readonly at: number;
  /** For what has been typed so far. */
  readonly suggestions: readonly string[];
  readonly hasMore: boolean;
  readonly isAsking: boolean;
  /** What the values come to, those that are missing left out. */
  readonly uri: string;
  readonly problem?: string;
}

export interface Variable {
  readonly name: string;
  /** Whether the template makes sense without it. */
  readonly isOptional: boolean;
  /** Whether it is names with slashes between them. */
  readonly isPath: boolean;
}

export interface Templates {
  readonly status: "idle" | "loading" | "ready" | "failed";
  readonly items: readonly Template[];
  readonly problem?: string;
  readonly filling?: Filling;
}

export interface GatherState {
  readonly status: "idle" | "loading" | "ready" | "failed";
  readonly problem?: string;
  readonly receipt?: ReceiptView;
  /** What a model would be given. */
  readonly text: string;
}

export interface SavedSetsState {
  readonly status: "idle" | "loading" | "ready" | "failed";
  readonly items: readonly Resource[];
  readonly problem?: string;
}

export type PageView = "tree" | "templates" | "gather";

export interface State {
  readonly connection: "connecting" | "ready" | "failed";
  /** Whether the last question got no answer: what is shown may be old. */
  readonly isLost: boolean;
  readonly problem?: string;
  readonly problemKind?: ErrorKind;
  /** The names of the server's tools. */
  readonly tools: ReadonlySet<string>;
  readonly view: PageView;
  readonly tree: ResourceTree;
  /** What the tree is to go to, as soon as it has it. */
  readonly revealed: string | undefined;
  readonly preview?: PreviewState;
  readonly search: Search;
  readonly templates: Templates;
  readonly gathering: GatherState;
  readonly tray: Tray;
  readonly sets: SavedSetsState;
  readonly budget: number;
}

export const noSearch: Search = {
  text: "",
  filters: noFilters,
  status: "idle",
  hits: [],
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
  budget: 100_000,
};
