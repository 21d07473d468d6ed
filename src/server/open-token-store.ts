/** Opens the tokens of a server: shared by its instances, or in the state folder. */
import { realPath } from "../lib/real-path.ts";
import type { Runtime } from "../runtime.ts";
import type { SharedState } from "../state/shared-state.ts";
import type { TokenStore } from "./token-store.ts";

interface TokenLocation {
  readonly shared?: Pick<SharedState, "store"> | undefined;
  readonly stateFolder: string;
  readonly runtime: Pick<Runtime, "monotonicMs" | "wait" | "log">;
}

export async function openTokenStore(
  { shared, stateFolder, runtime }: TokenLocation,
  config: string,
): Promise<TokenStore> {
  if (!shared) return (await import("./token-store.ts")).createTokenStore(stateFolder, realPath(config));
  const { createSharedTokenStore } = await import("./shared-token-store.ts");
  const store = createSharedTokenStore(shared.store, runtime);
  await store.load();
  return store;
}
