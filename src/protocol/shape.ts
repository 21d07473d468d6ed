/** Converts resources and contents to the fields of each revision. */
import type { Annotations, Change, Content, Description, Resource, Template } from "../resources.ts";
import type { RequestParams } from "./message.ts";
import type { RevisionFeatures } from "./revision.ts";

type Wired = Record<string, unknown>;

export function wireAnnotations(annotations: Annotations, has: RevisionFeatures): Wired | undefined {
  const { audience, priority, lastModified } = annotations;
  const wired: Wired = {};
  if (audience) wired["audience"] = audience;
  if (priority !== undefined) wired["priority"] = Math.min(1, Math.max(0, priority));
  if (lastModified !== undefined && has.titles) wired["lastModified"] = lastModified;
  for (const _ in wired) return wired;
  return undefined;
}

function describe(wired: Wired, of: Description, has: RevisionFeatures): void {
  wired["name"] = of.name;
  if (has.titles && of.title !== undefined) wired["title"] = of.title;
  if (of.description !== undefined) wired["description"] = of.description;
  if (of.mimeType !== undefined) wired["mimeType"] = of.mimeType;
  if (has.annotations && of.annotations) {
    const annotations = wireAnnotations(of.annotations, has);
    if (annotations) wired["annotations"] = annotations;
  }
  if (has.icons && of.icons) wired["icons"] = of.icons;
  if (has.titles && of.meta) wired["_meta"] = of.meta;
}

export function wireResource(resource: Resource, has: RevisionFeatures): Wired {
  const wired: Wired = { uri: resource.uri };
  describe(wired, resource, has);
  if (has.annotations && resource.size !== undefined) wired["size"] = resource.size;
  return wired;
}

export function wireTemplate(template: Template, has: RevisionFeatures): Wired {
  const wired: Wired = { uriTemplate: template.uriTemplate };
  describe(wired, template, has);
  return wired;
}

/** A content as an object, for embedded resources. */
export function wireContent(content: Content, has: RevisionFeatures): Wired {
  const wired: Wired = { uri: content.uri };
  if (content.mimeType !== undefined) wired["mimeType"] = content.mimeType;
  if ("text" in content.body) wired["text"] = content.body.text;
  else wired["blob"] = base64(content.body.bytes);
  if (has.titles && content.meta) wired["_meta"] = content.meta;
  return wired;
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** A change that a client is notified of. */
export type Notice = Change | { readonly kind: "prompts-changed" | "tools-changed" };

/** Method and parameters of a notification. */
export function wireNotice(notice: Notice): { method: string; params: RequestParams | undefined } {
  switch (notice.kind) {
    case "updated":
      return { method: "notifications/resources/updated", params: { uri: notice.uri } };
    case "list-changed":
      return { method: "notifications/resources/list_changed", params: undefined };
    case "prompts-changed":
      return { method: "notifications/prompts/list_changed", params: undefined };
    case "tools-changed":
      return { method: "notifications/tools/list_changed", params: undefined };
  }
}
