/** What is watched over one connection, in whichever way its era has. */
import type { ClientConnection } from "./reconnect.ts";

export interface RemoteWatch {
  readonly connection: ClientConnection;
  /** Resolves once armed, with those of the URIs that the server watches from now on, and whether it says when the list changes. */
  add(uris: readonly string[], list: boolean): Promise<Armed>;
  /** No one wants these any longer. */
  remove(uris: readonly string[]): void;
  /** No one wants anything for now. */
  rest(): void;
  /** Resolves when nothing is watched any longer, though it should be. */
  readonly over: Promise<void>;
}

export interface Armed {
  readonly uris: readonly string[];
  readonly list: boolean;
}

export interface RemoteWatchOptions {
  readonly connection: ClientConnection;
  readonly timeoutMs: number;
  /** Whether anyone wants this URI at the moment. */
  isWanted(uri: string): boolean;
  /** Called with what was watched and no longer is, though someone wants it: it is not there any more. */
  missed(uris: readonly string[]): void;
}
