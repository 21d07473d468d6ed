/** Options of mounts that keep data of their own: in the database of the instances, unless they name another one. */
import type { MountConfig } from "../config/config.ts";

/** As in the options of the source. */
const defaultSchema = "pressmark_analysis";

/** Results of analyses are in a schema beside that of the server. */
export async function withSharedDatabase(
  { definition, options }: Pick<MountConfig, "definition" | "options">,
  state: string | undefined,
): Promise<unknown> {
  if (definition.name !== "analysis" || state === undefined) return options;
  const given = options as { readonly path?: unknown; readonly url?: unknown; readonly schema?: unknown };
  if (given.path !== undefined || given.url !== undefined) return options;
  const { databaseOf } = await import("../state/state-url.ts");
  const { url, ca, schema } = databaseOf(state);
  return { ...given, url, ca, schema: given.schema === defaultSchema ? `${schema}_analysis` : given.schema };
}
