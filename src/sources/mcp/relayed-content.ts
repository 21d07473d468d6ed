/** Converts what another server says of its tools and prompts, and what they return. Its URIs become addresses. */
import type { ContentBlock as WireBlock, Prompt as WirePrompt, Tool as WireTool } from "@modelcontextprotocol/client";
import { isShallow, toContent, toResource } from "../../client/from-wire.ts";
import { isRemoteObject } from "../../client/is-remote-object.ts";
import type { Annotations, Icon, RelayedPrompt, RelayedTool, RelayedToolResult, Resource } from "../../resources.ts";
import type { Entry, SourceBlock } from "../../source.ts";
import type { Addresses } from "./addresses.ts";

type Loose = Readonly<Record<string, unknown>>;

/** A larger definition would fill the context of a model. */
const maxDefinitionBytes = 64 * 1024;
const maxNameLength = 200;

interface ContentOptions {
  readonly addresses: Addresses;
  /** Undefined if our URIs cannot express it. */
  entryOf(resource: Resource): Entry | undefined;
}

/** A reason if it cannot be passed on. */
export function toRelayedTool(tool: WireTool): Omit<RelayedTool, "mount"> | string {
  const { name, title, description, inputSchema, outputSchema, annotations, icons, _meta, execution } = tool;
  const problem = problemOf(tool);
  if (problem !== undefined) return problem;
  if (execution?.taskSupport === "required") return "it runs only as a task";
  return {
    name,
    title,
    description,
    inputSchema: withoutHeaders(inputSchema),
    // Older revisions know no other results than objects.
    ...(outputSchema?.["type"] === "object" && { outputSchema }),
    ...(annotations && { annotations }),
    ...describedBy(icons, _meta),
  };
}

export function toRelayedPrompt(prompt: WirePrompt): Omit<RelayedPrompt, "mount"> | string {
  const { name, title, description, arguments: args, icons, _meta } = prompt;
  const problem = problemOf(prompt);
  if (problem !== undefined) return problem;
  return { name, title, description, ...(args && { arguments: args }), ...describedBy(icons, _meta) };
}

function problemOf(definition: { readonly name: string }): string | undefined {
  const { name } = definition;
  if (name === "" || name.length > maxNameLength) return "its name is empty or too long";
  if (!isShallow(definition)) return "its definition is nested too deeply";
  return JSON.stringify(definition).length > maxDefinitionBytes ? "its definition is too large" : undefined;
}

/** Callers send their arguments to us, not the other server's headers. */
function withoutHeaders(schema: Loose): Loose {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => (key === "x-mcp-header" ? undefined : value)),
  ) as Loose;
}

function describedBy(icons: unknown, meta: unknown): { icons?: readonly Icon[]; meta?: Loose } {
  const kept = cleanMeta(meta);
  return { ...(Array.isArray(icons) && { icons: icons as readonly Icon[] }), ...(kept && { meta: kept }) };
}

/** Reserved members are about the connection to the other server; an app's page would be looked for under the other server's URI. */
const reserved = /^(?:progressToken$|ui$|ui\/|pressmark\/|(?:[^/]*\.)?(?:modelcontextprotocol|mcp)[./])/;

function cleanMeta(meta: unknown): Loose | undefined {
  if (!isRemoteObject(meta) || !isShallow(meta)) return undefined;
  const kept = Object.entries(meta).filter(([key]) => !reserved.test(key));
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

/** Structured content that is no object becomes text. */
export function toToolResult(
  { content = [], structuredContent, isError, _meta }: Loose,
  options: ContentOptions,
): RelayedToolResult<SourceBlock> {
  const blocks = (content as readonly WireBlock[]).map((block) => toBlock(block, options));
  const meta = cleanMeta(_meta);
  const isStructured = isRemoteObject(structuredContent) && isShallow(structuredContent);
  if (structuredContent !== undefined && !isStructured && !blocks.some(({ type }) => type === "text"))
    blocks.push({ type: "text", text: JSON.stringify(structuredContent) });
  return {
    content: blocks,
    ...(isStructured && { structuredContent }),
    ...(isError === true && { isError }),
    ...(meta && { meta }),
  };
}

/** A resource whose URI cannot be expressed stays only as text. */
export function toBlock(block: WireBlock, options: ContentOptions): SourceBlock {
  const meta = cleanMeta(block._meta);
  const { annotations } = block as { annotations?: Annotations };
  const rest = { ...(annotations && { annotations }), ...(meta && { meta }) };
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text, ...rest };
    case "image":
    case "audio":
      return { type: block.type, bytes: Buffer.from(block.data, "base64"), mimeType: block.mimeType, ...rest };
    case "resource_link": {
      const { _meta, ...link } = block;
      const entry = options.entryOf(toResource({ ...link, ...(meta && { _meta: meta }) }));
      return entry
        ? { type: "link", entry }
        : { type: "text", text: `[a resource without a URI here: ${block.title ?? block.name}]`, ...rest };
    }
    case "resource": {
      const { uri, body, mimeType, ...content } = toContent(block.resource);
      const at = options.addresses.of(uri);
      const ofContent = cleanMeta(content.meta);
      if (at) return { type: "embedded", part: { at, body, mimeType, ...(ofContent && { meta: ofContent }) }, ...rest };
      return { type: "text", text: "text" in body ? body.text : "[a resource without a URI here]", ...rest };
    }
  }
}
