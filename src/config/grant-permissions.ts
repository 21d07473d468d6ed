/** Lists and grants the permissions of a config. */
import { extname } from "node:path";
import type { Config } from "./config.ts";
import { type ConfigContext, loadWith } from "./load-config.ts";
import { changedFacts, createTrustStore, type Grant, isSameFacts, type Permission } from "./trust.ts";

/** All permissions that a config needs now. Resolves only references, and runs only programs, that are trusted already. */
export async function permissionsAsked(file: string, world: ConfigContext): Promise<readonly Permission[]> {
  return (await examinePermissions(file, world)).permissions;
}

/** The permissions, and the mounts whose permissions are not known because they have problems. */
export async function examinePermissions(
  file: string,
  world: ConfigContext,
): Promise<Pick<Config, "permissions" | "faulty">> {
  return examineWith(createTrustStore(world.stateFolder).read(file), file, world);
}

async function examineWith(
  grant: Grant,
  file: string,
  world: ConfigContext,
): Promise<Pick<Config, "permissions" | "faulty">> {
  const loaded = await loadWith({ file, named: false }, world, { grant, isAsking: true });
  return "config" in loaded ? loaded.config : { permissions: [loaded.untrusted], faulty: [] };
}

/**
 * Grants exactly what was shown: parts that changed since then stay ungranted. A mount with problems is not shown; an earlier grant of it
 * stays bound to its text and to what it led to.
 */
export async function grantPermissions(
  file: string,
  requested: readonly Permission[],
  world: ConfigContext,
): Promise<void> {
  const store = createTrustStore(world.stateFolder);
  const granted = requested.filter(({ refused }) => refused === undefined);
  const before = store.read(file);
  const earlier = [...before.parts]
    .filter(([part]) => !requested.some((each) => each.part === part))
    .map(([part, bound]) => ({ part, ...bound }));
  store.grant(file, [...earlier, ...granted]);
  // Now references can be resolved and programs run, which shows the paths and files to bind.
  const { permissions: known, faulty } = await examinePermissions(file, world);
  // As for the prompt: what is new since then was not shown.
  const { permissions: again } = await examineWith(before, file, world);
  const kept = earlier.filter(({ part }) => faulty.some(({ name }) => part === `mounts.${name}`));
  const isProgram = granted.some(({ part }) => part === "config") && extname(file) === ".ts";
  const more = isProgram ? known.filter(({ part }) => !granted.some((each) => each.part === part)) : [];
  const completed = granted.map((each) => {
    const now = known.find(({ part, written }) => part === each.part && isSameFacts(written, each.written));
    if (!now) return each;
    const unseen = changedFacts(each.found, again.find(({ part }) => part === each.part)?.found ?? {});
    const learnt = Object.entries(now.found).filter(([name]) => !unseen.includes(name));
    return { ...each, found: { ...Object.fromEntries(learnt), ...each.found } };
  });
  store.grant(file, [...kept, ...completed, ...more.filter(({ refused }) => refused === undefined)]);
}
