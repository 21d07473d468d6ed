/** All that the page shows. */
import type { Content, Hit, Resource } from "../resources.ts";
import { emptyTree, type Tree } from "./tree.ts";
import type { Tray } from "./tray.ts";

export interface Preview {
  readonly resource: Resource;
  readonly status: "loading" | "ready" | "failed";
  readonly problem?: string;
  readonly contents: readonly Content[];
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
  readonly status: "idle" | "loading" | "ready" | "failed";
  readonly hits: readonly Hit[];
  readonly ready: number;
  readonly problem?: string;
}

export interface State {
  readonly connection: "connecting" | "ready" | "failed";
  readonly problem?: string;
  readonly tree: Tree;
  /** What the tree is to go to, as soon as it has it. */
  readonly revealed: string | undefined;
  readonly preview?: Preview;
  readonly search: Search;
  readonly tray: Tray;
  readonly budget: number;
}

export const noSearch: Search = { text: "", status: "idle", hits: [], ready: 1 };

export const firstState: State = {
  connection: "connecting",
  tree: emptyTree,
  revealed: undefined,
  search: noSearch,
  tray: [],
  budget: 100_000,
};
