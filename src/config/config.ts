/** What a config says, once it is read and checked. */
import type { SourceDefinition } from "../source.ts";
import type { ConfigError, KeyPath } from "./problem.ts";
import type { Limits, MountSettings, SearchSettings, ServerSettings } from "./schema.ts";
import type { SetConfig } from "./sets.ts";
import type { Facts, Permission } from "./trust.ts";

export interface MountConfig extends Omit<MountSettings, "source" | "limits"> {
  readonly name: string;
  readonly definition: SourceDefinition;
  /** Checked against the definition: paths are absolute, what was left out has its initial value. */
  readonly options: unknown;
  /** Those of the mount before those for all. */
  readonly limits: Limits;
  /** Whether any of its values came from the environment or from a file. */
  readonly isReferred?: boolean;
  /** Where its paths lead and which files it names as its program, as they were when it was loaded; absent where the config was named. */
  readonly bound?: Facts;
  /** Throws where one of these is another now. Present where the source might open or start it later. */
  readonly checkTrust?: () => void;
}

export interface Config {
  /** Absolute. */
  readonly file: string;
  /** What its paths are relative to. */
  readonly folder: string;
  readonly mounts: readonly MountConfig[];
  readonly server: ServerSettings;
  readonly search: SearchSettings;
  readonly sets: readonly SetConfig[];
  /** Everything it asks for that a config which was merely found may not do unasked. */
  readonly permissions: readonly Permission[];
  /** Those of them that it was not granted. What needs them is left out. */
  readonly withheld: readonly Permission[];
  /** A text without the values that came from references. */
  redact(text: string): string;
  /** The whole of it, as a person may be shown it. */
  readonly shown: Readonly<Record<string, unknown>>;
  /** An error that points at a key, for what turns out to be wrong only when it is used. */
  refusal(path: KeyPath, message: string): ConfigError;
}
