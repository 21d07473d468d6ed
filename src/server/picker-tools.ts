/** Tools for the person in the picker. The page and MCP Apps are offered them without the config naming them; models are not. */
import { isJsonObject, member, type RequestParams } from "../protocol/message.ts";
import type { Tool } from "../protocol/tools.ts";

/** Declared by the picker's own page. */
const pickerExtension = "pressmark/picker";
const appExtension = "io.modelcontextprotocol/ui";
/** https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx */
export const appType = "text/html;profile=mcp-app";

interface PickerToolOptions {
  /** Whether hosts may show the picker as an app. */
  readonly hasApp: boolean;
  readonly isOwners?: boolean;
}

/** Restricts where a tool is offered. This permits nothing: a client may declare what it likes, so the tool checks the caller. */
export function forPicker(tool: Tool, { hasApp, isOwners = false }: PickerToolOptions): Tool {
  return {
    ...tool,
    meta: { ...tool.meta, ui: { visibility: ["app"] } },
    isFor: (clientCapabilities, caller) =>
      (!isOwners || caller.owner === true) &&
      (isPicker(clientCapabilities) || (hasApp && showsApps(clientCapabilities))),
  };
}

function isPicker(clientCapabilities: RequestParams): boolean {
  return isJsonObject(member(member(clientCapabilities, "extensions"), pickerExtension));
}

/** Whether this client announced that it can show such pages. */
export function showsApps(clientCapabilities: RequestParams): boolean {
  const announced = member(member(clientCapabilities, "extensions"), appExtension);
  const types = isJsonObject(announced) ? announced["mimeTypes"] : undefined;
  return Array.isArray(types) && types.includes(appType);
}
