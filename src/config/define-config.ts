/** A config in TypeScript, checked while it is typed. */
import type { z } from "zod";
import type { SourceDefinition } from "../source.ts";
import type { sources } from "../sources/index.ts";
import type { configSchema, mountSchema } from "./schema.ts";

type Sources = typeof sources;
type OptionsOf<Name extends keyof Sources> =
  Awaited<ReturnType<Sources[Name]>>["default"] extends SourceDefinition<infer Options> ? Partial<Options> : never;

/** What every mount may say beside the options of its source. */
type Common = Omit<z.input<ReturnType<typeof mountSchema>>, "source">;

/** A mount of one of Pressmark's sources, or of one's own: its definition, or the file that exports it. */
export type MountInput =
  | { [Name in keyof Sources]: { readonly source: Name } & OptionsOf<Name> & Common }[keyof Sources]
  // oxlint-disable-next-line typescript/no-explicit-any -- each source has options of its own
  | ({ readonly source: SourceDefinition<any> | `./${string}` | `../${string}` } & Common & Record<string, unknown>);

export interface ConfigInput extends Omit<z.input<ReturnType<typeof configSchema>>, "mounts" | "$schema"> {
  readonly mounts?: Readonly<Record<string, MountInput>>;
}

/** For the default export of `pressmark.config.ts`. */
export function defineConfig(config: ConfigInput): ConfigInput {
  return config;
}
