/** From what a config asks for to what it is granted, once a person has said so. */
import { extname } from "node:path";
import { type ConfigContext, loadWith } from "./load-config.ts";
import { createTrustStore, isSameFacts, type Permission } from "./trust.ts";

/** Everything that a config would have to be trusted with, as it is now. No reference is resolved, and no program is run, that was not trusted before. */
export async function permissionsAsked(file: string, world: ConfigContext): Promise<readonly Permission[]> {
  const grant = createTrustStore(world.stateFolder).read(file);
  const loaded = await loadWith({ file, named: false }, world, { grant, isAsking: true });
  return "config" in loaded ? loaded.config.permissions : [loaded.untrusted];
}

/** Grants what a person was shown, as it was then: what has changed since stays as it was asked for. */
export async function grantPermissions(
  file: string,
  asked: readonly Permission[],
  world: ConfigContext,
): Promise<void> {
  const store = createTrustStore(world.stateFolder);
  const granted = asked.filter(({ refused }) => refused === undefined);
  store.grant(file, granted);
  // References may be resolved now, and a program run: only then it is known where they lead, and which files they name.
  const known = await permissionsAsked(file, world);
  const isProgram = granted.some(({ part }) => part === "config") && extname(file) === ".ts";
  const more = isProgram ? known.filter(({ part }) => !granted.some((each) => each.part === part)) : [];
  const completed = granted.map((each) => {
    const now = known.find(({ part, written }) => part === each.part && isSameFacts(written, each.written));
    return now ? { ...each, found: { ...now.found, ...each.found } } : each;
  });
  store.grant(file, [...completed, ...more.filter(({ refused }) => refused === undefined)]);
}
