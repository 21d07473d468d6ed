/** What a mount leads to on the disk: a grant is bound to it, and so is a source that opens or starts it later. */
import { ResourceError } from "../errors.ts";
import { boundFiles, type MountPrograms } from "./bound-files.ts";
import type { MountConfig } from "./config.ts";
import { isAnchored, isConfined, morePlaces } from "./permissions.ts";
import { changedFacts, type Facts, realPath, sha256 } from "./trust.ts";

export interface MountBinding extends Required<Pick<MountConfig, "bound">>, Pick<MountConfig, "checkTrust"> {
  /** What a person should know before they trust it; each completes "this config …". */
  readonly notes: readonly string[];
  /** Why it cannot be trusted. */
  readonly refused?: string;
}

export interface BindOptions extends MountPrograms {
  /** What its options name, with what a person is told when it leads elsewhere. */
  readonly places: readonly (readonly [name: string, path: string])[];
  /** Whether the content of programs is of interest: not for a mount that is left out anyway. */
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
    `the mount ${JSON.stringify(mount)} is not what it was when its config was loaded (${[...changed].join(", ")}); trust it again, then start anew`,
    { passing: false },
  );
}
