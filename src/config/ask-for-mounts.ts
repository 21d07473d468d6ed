/** Determines the permissions that each mount needs, and what its grant is bound to. */
import { relative } from "node:path";
import { type Asking, partOf } from "./asking.ts";
import { bindMount, type MountBinding } from "./bind-mount.ts";
import type { MountConfig } from "./config.ts";
import { createIsIgnored } from "./ignored.ts";
import { packageDigest, type SourcePackage } from "./find-package.ts";
import {
  isConfined,
  mountReasons,
  type OwnFolder,
  packageReason,
  programReason,
  schemeReasons,
} from "./permissions.ts";
import { formatPath, type KeyPath } from "./problem.ts";
import { programFiles, UnboundProgram } from "./program-files.ts";
import { type ResolvedReferences, valueAt } from "./references.ts";
import { realPath } from "../lib/real-path.ts";
import { type Facts, holds, sha256, versionFact } from "./trust.ts";

/** Paths that options name, by part, each with the name shown when it changes. */
export type AskedPlaces = Map<string | undefined, (readonly [name: string, path: string])[]>;

interface MountsAsking {
  readonly asking: Asking;
  readonly places: AskedPlaces;
  /** The parsed config, with references. */
  readonly raw: unknown;
  readonly resolved: ResolvedReferences;
  readonly folder: string;
  readonly isNamed: boolean;
  /** Whether this is for a trust prompt. */
  readonly isAsking: boolean;
}

/** By name. A config named by the user is bound to nothing. */
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
    // Reasons of confined sources depend on the disk; those of others on the text of the mount alone.
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

interface RunRequest {
  readonly file: string;
  readonly content: Uint8Array;
  readonly key: KeyPath;
  /** The package whose entry the file is. */
  readonly of?: SourcePackage;
}

/** Whether a custom source may run: unchanged, with all its relative imports. */
export function mayRun(
  { file, content, key, of }: RunRequest,
  { asking, folder, isAsking }: Pick<MountsAsking, "asking" | "folder" | "isAsking">,
): boolean {
  const part = partOf(key);
  const reason = of ? packageReason(of, folder, key) : programReason([JSON.stringify(relative(folder, file))], key);
  if (!isAsking && !asking.isGrantedAsWritten(part)) {
    asking.becauseWritten(key, reason);
    return false;
  }
  try {
    const facts = of ? packageFacts(of) : programFiles(file, content, folder);
    asking.becauseWritten(key, of ? reason : programReason(Object.keys(facts), key));
    // Which of these files runs first: a link may lead to another of them.
    const entry = { [`where ${formatPath(key.slice(2))} leads`]: sha256(realPath(file)) };
    return asking.bind(part, { ...facts, ...entry }) && asking.isGrantedAsWritten(part);
  } catch (cause) {
    if (!(cause instanceof UnboundProgram)) throw cause;
    asking.becauseWritten(key, reason);
    asking.refuse(part, cause.message);
    return false;
  }
}

/** One digest for all files: a package may have more of them than a person reads. */
function packageFacts(of: SourcePackage): Facts {
  return {
    ...versionFact(of),
    [`the folder of ${of.name}`]: sha256(of.folder),
    [`the code of ${of.name}`]: packageDigest(of),
  };
}

/** Binds a file in the config's folder to its content, which the author can change; a file elsewhere only to its path. */
export function referredFact(file: string, folder: string, content: string): Facts {
  const name = JSON.stringify(relative(folder, file));
  return holds(folder, file)
    ? { [name]: sha256(content), [`where ${name} leads`]: sha256(realPath(file)) }
    : { [`where ${name} leads`]: sha256(realPath(file)) };
}
