/** Binds a mount to the paths and programs that it names: for the grant, and for a source that opens them later. */
import { ResourceError } from "../errors.ts";
import { boundFiles, type MountPrograms } from "./bound-files.ts";
import type { MountConfig } from "./config.ts";
import { isAnchored, isConfined, morePlaces } from "./permissions.ts";
import { realPath } from "../lib/real-path.ts";
import { changedFacts, type Facts, sha256 } from "./trust.ts";

export interface MountBinding extends Required<Pick<MountConfig, "bound">>, Pick<MountConfig, "checkTrust"> {
  /** Notes for the trust prompt; each completes "this config …". */
  readonly notes: readonly string[];
  /** Why it cannot be trusted. */
  readonly refused?: string;
}

interface BindOptions extends MountPrograms {
  /** Paths in its options, each with the name shown when it changes. */
  readonly places: readonly (readonly [name: string, path: string])[];
  /** Whether to hash programs: not for a mount that is left out anyway. */
  readonly isBinding: boolean;
}

export function bindMount(
  mount: Pick<MountConfig, "name" | "definition" | "options">,
  { places, isBinding, ...programs }: BindOptions,
): MountBinding {
  const { name, definition } = mount;
  const paths = [...places, ...morePlaces(mount).map(([file, path]) => [`where ${file} leads`, path] as const)];
  const hasPrograms = isBinding && !isConfined(definition.name);

  function look(): Omit<MountBinding, "checkTrust"> {
    const led = Object.fromEntries(paths.map(([what, path]) => [what, sha256(realPath(path))]));
    const { facts, ...more } = hasPrograms ? boundFiles(programs) : { facts: {}, notes: [] };
    return { bound: { ...led, ...facts }, ...more };
  }

  const now = look();
  const mayAppear = typeof programs.options["command"] === "string";
  if (isAnchored(definition.name) || (Object.keys(now.bound).length === 0 && !mayAppear)) return now;
  return { ...now, checkTrust: () => refuseChange(name, now.bound, look().bound) };
}

function refuseChange(mount: string, before: Facts, now: Facts): void {
  const changed = new Set([...changedFacts(before, now), ...changedFacts(now, before)]);
  if (changed.size === 0) return;
  throw new ResourceError(
    "unavailable",
    `the mount ${JSON.stringify(mount)} changed after its config was loaded (${[...changed].join(", ")}); trust it again, then restart`,
    { passing: false },
  );
}
