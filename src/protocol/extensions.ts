/** Extensions that this server supports. One of ours is used only with a client that declares it, too. */
import { isJsonObject, member } from "./message.ts";
import type { ClientRequest } from "./client-request.ts";

export const conditionalReads = "pressmark/conditional-reads";
export const listFilters = "pressmark/list-filters";

/** Skills have their own method; directories of every source are read with `resources/directory/read`. */
export const extensions = {
  "io.modelcontextprotocol/skills": { directoryRead: true },
  [conditionalReads]: {},
  [listFilters]: { supported: ["namePatterns", "uriPatterns"] },
};

export function declares({ revision, clientCapabilities }: ClientRequest, extension: string): boolean {
  return revision.has.extensions && isJsonObject(member(member(clientCapabilities, "extensions"), extension));
}
