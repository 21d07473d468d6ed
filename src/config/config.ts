/** What a server is built from: a config file after reading and checking, or the folders of a command line. */
import type { QuotaSettings } from "../access/quotas.ts";
import type { Layer } from "../layer.ts";
import type { Runtime, SourceDefinition } from "../source.ts";
import type { ResourceError } from "../errors.ts";
import type { KeyPath } from "./problem.ts";
import type { Limits, MountSettings, SearchSettings, ServerSettings } from "./schema.ts";
import type { SetConfig } from "./sets.ts";
import type { AccessSettings } from "./access.ts";
import type { Facts, Permission } from "./trust.ts";

export interface MountConfig extends Omit<MountSettings, "source" | "limits"> {
  readonly name: string;
  readonly definition: SourceDefinition;
  /** Checked options: paths are absolute, defaults are filled in. */
  readonly options: unknown;
  /** URI prefix, if it is not the one of the source. Only for a mount that no file names. */
  readonly base?: string;
  /** Limits of the mount, else those for all mounts. */
  readonly limits: Limits;
  /** Replaces the standard layers. Only for a mount that no file names. */
  readonly layers?: (runtime: Runtime) => readonly Layer[];
  /** Whether any value came from the environment or a file. */
  readonly isReferred?: boolean;
  /** Real paths and program digests at the time of loading; absent if the user named the config. */
  readonly bound?: Facts;
  /** Throws if one of them has changed. Present if the source may open or start it later. */
  readonly checkTrust?: () => void;
}

/** A mount with problems. It is left out; in a running server it may stay as it was. */
export interface FaultyMount {
  readonly name: string;
  /** One line for each problem: file, position, key, and what to do. Never contains a value from a reference. */
  readonly problems: readonly string[];
  /** Whether the mount is optional, and nothing but this machine is the reason. */
  readonly isExpected: boolean;
  /** Its URI prefix, if known: no other mount may take it. */
  readonly base?: string;
  /** Whether its texts must be masked. */
  readonly redact: boolean;
}

export interface Config {
  /** Absolute; undefined if there is no file. */
  readonly file?: string;
  /** Base folder of the paths of its sets, without links. */
  readonly folder: string;
  /** The mounts without problems. */
  readonly mounts: readonly MountConfig[];
  readonly faulty: readonly FaultyMount[];
  readonly server: ServerSettings;
  readonly search: SearchSettings;
  readonly sets: readonly SetConfig[];
  /** Named callers, and who may see what. Undefined if they need trust first: then nobody may be served. */
  readonly access: AccessSettings | undefined;
  /** How much callers may use. Needs no trust, because it only restricts. */
  readonly quotas?: QuotaSettings;
  /** All permissions that a config found in a folder needs. */
  readonly permissions: readonly Permission[];
  /** Those that were not granted. The parts that need them are left out. */
  readonly withheld: readonly Permission[];
  /** Removes values that came from references. */
  redact(text: string): string;
  /** The resolved config for display, without secrets. */
  readonly shown: Readonly<Record<string, unknown>>;
  /** The error to report for a problem that shows only in use; for a file, it points at the key. */
  refusal(path: KeyPath, cause: ResourceError): ResourceError;
}
