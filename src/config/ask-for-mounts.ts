/** What the mounts of a config ask for, and what a grant of each is bound to. */
import { relative } from "node:path";
import { type Asking, partOf } from "./asking.ts";
import { bindMount, type MountBinding } from "./bind-mount.ts";
import type { MountConfig } from "./config.ts";
import { createIsIgnored } from "./ignored.ts";
import { isConfined, mountReasons, type OwnFolder, programReason, schemeReasons } from "./permissions.ts";
import type { KeyPath } from "./problem.ts";
import { programFiles, ProgramTooLarge } from "./program-files.ts";
import { type ResolvedReferences, valueAt } from "./references.ts";
import { type Facts, holds, realPath, sha256 } from "./trust.ts";

/** By part: the paths that options name, each with what a person is told when it leads elsewhere. */
export type Places = Map<string | undefined, (readonly [name: string, path: string])[]>;

export interface MountsAsking {
  readonly asking: Asking;
  readonly places: Places;
  /** The config as it is written. */
  readonly raw: unknown;
  readonly resolved: ResolvedReferences;
  readonly folder: string;
  readonly isNamed: boolean;
  /** Whether a person is about to be asked. */
  readonly isAsking: boolean;
}

/** By name. A config that was named is bound to nothing. */
export async function askForMounts(
  mounts: readonly MountConfig[],
  { asking, places, raw, resolved, folder, isNamed, isAsking }: MountsAsking,
): Promise<ReadonlyMap<string, MountBinding>> {
  const bindings = new Map<string, MountBinding>();
  const path = realPath(folder);
  const own: OwnFolder = { path, isIgnored: createIsIgnored(path) };
  for (const mount of mounts) {
    const key = ["mounts", mount.name];
    const part = partOf(key);
    const reasons = await mountReasons(mount, own, valueAt(raw, key)["command"]);
    // What a source is, the mount says; what a folder keeps to itself, the disk.
    if (isConfined(mount.definition.name)) asking.because(key, ...reasons);
    else asking.becauseWritten(key, ...reasons);
    asking.becauseWritten(key, ...schemeReasons(mount));
    if (isNamed) continue;
    const binding = bindMount(mount, {
      places: places.get(part) ?? [],
      options: valueAt(resolved.value, key),
      folder,
      cwd: process.cwd(),
      isBinding: isAsking || asking.isGrantedAsWritten(part),
    });
    asking.because(key, ...binding.notes);
    asking.bind(part, binding.bound);
    if (binding.refused !== undefined) asking.refuse(part, binding.refused);
    bindings.set(mount.name, binding);
  }
  return bindings;
}

/** Whether a source of one's own may be run: as it is, with all that it imports. */
export function mayRun(
  { file, content, key }: { readonly file: string; readonly content: Uint8Array; readonly key: KeyPath },
  { asking, folder, isAsking }: Pick<MountsAsking, "asking" | "folder" | "isAsking">,
): boolean {
  const part = partOf(key);
  const named = JSON.stringify(relative(folder, file));
  if (!isAsking && !asking.isGrantedAsWritten(part)) {
    asking.becauseWritten(key, programReason([named], key));
    return false;
  }
  try {
    const files = programFiles(file, content, folder);
    asking.becauseWritten(key, programReason(Object.keys(files), key));
    return asking.bind(part, files) && asking.isGrantedAsWritten(part);
  } catch (cause) {
    if (!(cause instanceof ProgramTooLarge)) throw cause;
    asking.becauseWritten(key, programReason([named], key));
    asking.refuse(part, cause.message);
    return false;
  }
}

/** A file of the folder itself is its author's to change, so its content counts. One elsewhere is the person's own. */
export function referredFact(file: string, folder: string, content: string): Facts {
  const name = JSON.stringify(relative(folder, file));
  return holds(folder, file)
    ? { [name]: sha256(content), [`where ${name} leads`]: sha256(realPath(file)) }
    : { [`where ${name} leads`]: sha256(realPath(file)) };
}
