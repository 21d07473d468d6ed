/** Opens the sign-ins of a server: shared by its instances, or in the state folder. */
import type { VerifierContext } from "../token-verifier.ts";
import { createOAuthStore, type OAuthStore } from "./oauth-store.ts";

export async function openOAuthStore({
  shared,
  stateFolder,
  config,
  runtime,
}: Pick<VerifierContext, "shared" | "stateFolder" | "config"> & {
  readonly runtime: Pick<VerifierContext["runtime"], "now" | "monotonicMs" | "wait">;
}): Promise<OAuthStore> {
  if (!shared) return createOAuthStore(stateFolder, config, runtime.now);
  const { createSharedOAuthStore } = await import("./shared-oauth-store.ts");
  const store = createSharedOAuthStore(shared, runtime);
  await store.load();
  return store;
}
