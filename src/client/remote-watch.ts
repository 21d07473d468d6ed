/** The watches of one connection, for either era. */
import type { Watch } from "../resources.ts";
import type { ClientConnection } from "./reconnect.ts";

export interface RemoteWatch {
  readonly connection: ClientConnection;
  /** Resolves once armed, with the URIs that the server watches from now on, and whether it reports changes of the list. */
  add(uris: readonly string[], list: boolean): Promise<Armed>;
  /** Stops watching these. */
  remove(uris: readonly string[]): void;
  /** Stops watching everything for now. */
  rest(): void;
  /** Resolves when the watch has ended unexpectedly. */
  readonly over: Promise<void>;
}

export interface Armed extends Pick<Watch, "uris" | "unwatched"> {
  readonly list: boolean;
}

export interface RemoteWatchOptions {
  readonly connection: ClientConnection;
  readonly timeoutMs: number;
  /** Returns whether anyone currently watches this URI. */
  isWanted(uri: string): boolean;
  /** Called with URIs that are still wanted but no longer watched: they do not exist any more. */
  missed(uris: readonly string[]): void;
}
