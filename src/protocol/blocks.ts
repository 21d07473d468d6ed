/** Content blocks of tools and prompts, and their form in each revision. */
import { shortTitle } from "../lib/own-title.ts";
import type { ContentBlock } from "../resources.ts";
import type { RevisionFeatures } from "./revision.ts";
import { base64, wireAnnotations, wireContent, wireResource } from "./shape.ts";

export type { ContentBlock } from "../resources.ts";

export function wireBlocks(blocks: readonly ContentBlock[], has: RevisionFeatures): Record<string, unknown>[] {
  return blocks
    .filter((block) => has.titles || block.type !== "link" || !block.isSaid)
    .map((block) => wireBlock(block, has));
}

export function wireBlock(block: ContentBlock, has: RevisionFeatures): Record<string, unknown> {
  const wired = format(block, has);
  if (block.annotations && has.annotations && block.type !== "link") {
    const annotations = wireAnnotations(block.annotations, has);
    if (annotations) wired["annotations"] = annotations;
  }
  if (block.meta && has.titles) wired["_meta"] = block.meta;
  return wired;
}

function format(block: ContentBlock, has: RevisionFeatures): Record<string, unknown> {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "audio":
      if (!has.audio) return { type: "text", text: `[audio, ${block.mimeType}]` };
      return { type: "audio", data: base64(block.bytes), mimeType: block.mimeType };
    case "image":
      return { type: "image", data: base64(block.bytes), mimeType: block.mimeType };
    case "link":
      // Without links, a model can still use the URI as text.
      if (!has.titles) return { type: "text", text: `${shortTitle(block.resource)}: ${block.resource.uri}` };
      return { type: "resource_link", ...wireResource(block.resource, has) };
    case "embedded":
      return { type: "resource", resource: wireContent(block.content, has) };
  }
}
