/** Types for a config in TypeScript. */
import type { z } from "zod";
import type { SourceDefinition } from "../source.ts";
import type { sources } from "../sources/index.ts";
import type { configSchema, mountSchema } from "./schema.ts";

export type BuiltInSources = typeof sources;

/** Options of a built-in source. */
export type SourceOptionsInput<Name extends keyof BuiltInSources> =
  Awaited<ReturnType<BuiltInSources[Name]>>["default"] extends SourceDefinition<infer Options>
    ? Partial<Options>
    : never;

/** Keys that every mount may have besides the options of its source. */
export type CommonMountInput = Omit<z.input<ReturnType<typeof mountSchema>>, "source">;

/** A mount of a built-in source, or of a custom one: its definition, or the file or package that exports it. */
export type MountInput =
  | {
      [Name in keyof BuiltInSources]: { readonly source: Name } & SourceOptionsInput<Name> & CommonMountInput;
    }[keyof BuiltInSources]
  | ({
      // oxlint-disable-next-line typescript/no-explicit-any -- each source has its own options
      readonly source: SourceDefinition<any> | `${string}/${string}` | `pressmark-source-${string}`;
    } & CommonMountInput &
      Record<string, unknown>);

export interface ConfigInput extends Omit<z.input<ReturnType<typeof configSchema>>, "mounts" | "$schema"> {
  readonly mounts?: Readonly<Record<string, MountInput>>;
}

/** Type-checks the default export of `pressmark.config.ts`. */
export function defineConfig(config: ConfigInput): ConfigInput {
  return config;
}
