/** All sources by name, each loaded when a mount needs it. */
import type { SourceDefinition } from "../source.ts";

/** A module whose default export is a source. */
export interface SourceModule<Options = unknown> {
  readonly default: SourceDefinition<Options>;
}

export const sources = withTypes({
  analysis: () => import("./analysis.ts"),
  config: () => import("./config.ts"),
  data: () => import("./data.ts"),
  docs: () => import("./docs.ts"),
  file: () => import("./file.ts"),
  gcs: () => import("./gcs.ts"),
  gdrive: () => import("./gdrive.ts"),
  git: () => import("./git.ts"),
  mcp: () => import("./mcp.ts"),
  memory: () => import("./memory.ts"),
  metrics: () => import("./metrics.ts"),
  postgres: () => import("./postgres.ts"),
  s3: () => import("./s3.ts"),
  skills: () => import("./skills.ts"),
  sqlite: () => import("./sqlite.ts"),
  web: () => import("./web.ts"),
});

/** By name: a function that loads the module of a source. */
export type SourceLoaders<Options> = { readonly [Name in keyof Options]: () => Promise<SourceModule<Options[Name]>> };

/** Returns the loaders unchanged. Their types name the options of each source, and nothing else of its module. */
function withTypes<Options>(loaders: SourceLoaders<Options>): SourceLoaders<Options> {
  return loaders;
}
