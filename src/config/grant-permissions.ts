/** Lists and grants the permissions of a config. */
import { extname } from "node:path";
import { type ConfigContext, loadWith } from "./load-config.ts";
import { createTrustStore, isSameFacts, type Permission } from "./trust.ts";

/** All permissions that a config needs now. Resolves only references, and runs only programs, that are trusted already. */
export async function permissionsAsked(file: string, world: ConfigContext): Promise<readonly Permission[]> {
  const grant = createTrustStore(world.stateFolder).read(file);
  const loaded = await loadWith({ file, named: false }, world, { grant, isAsking: true });
  return "config" in loaded ? loaded.config.permissions : [loaded.untrusted];
}

/** Grants exactly what was shown: parts that changed since then stay ungranted. */
export async function grantPermissions(
  file: string,
  requested: readonly Permission[],
  world: ConfigContext,
): Promise<void> {
  const store = createTrustStore(world.stateFolder);
  const granted = requested.filter(({ refused }) => refused === undefined);
  store.grant(file, granted);
  // Now references can be resolved and programs run, which shows the paths and files to bind.
  const known = await permissionsAsked(file, world);
  const isProgram = granted.some(({ part }) => part === "config") && extname(file) === ".ts";
  const more = isProgram ? known.filter(({ part }) => !granted.some((each) => each.part === part)) : [];
  const completed = granted.map((each) => {
    const now = known.find(({ part, written }) => part === each.part && isSameFacts(written, each.written));
    return now ? { ...each, found: { ...now.found, ...each.found } } : each;
  });
  store.grant(file, [...completed, ...more.filter(({ refused }) => refused === undefined)]);
}
