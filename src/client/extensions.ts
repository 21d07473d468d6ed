/** Extensions: those that this client declares, and those that a server declares. */
import type { Client } from "@modelcontextprotocol/client";

export const skillsExtension = "io.modelcontextprotocol/skills";
export const conditionalReads = "pressmark/conditional-reads";
export const listFilters = "pressmark/list-filters";
/** Declared by the picker: it is offered tools for a person, which models do not see. */
export const pickerExtension = "pressmark/picker";

/** Sent to every server, which may then use what it declares itself. */
export const declaredExtensions = { [conditionalReads]: {}, [listFilters]: {} };

export function declares(client: Client, extension: string): boolean {
  return Object.hasOwn(client.getServerCapabilities()?.extensions ?? {}, extension);
}
