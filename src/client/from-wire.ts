/** Converts wire objects to the data model. Invalid members are left out. */
import type { Resource as WireResource, ResourceTemplateType as WireTemplate } from "@modelcontextprotocol/client";
import { ResourceError } from "../errors.ts";
import type {
  Body,
  Content,
  Description,
  MountFailure,
  Freshness,
  Page,
  Resource,
  Skill,
  Template,
} from "../resources.ts";
import { isRemoteObject } from "./is-remote-object.ts";

type Loose = Readonly<Record<string, unknown>>;

export function toResource({ uri, size, ...wire }: WireResource): Resource {
  return { uri, ...toDescription(wire), size };
}

export function toTemplate({ uriTemplate, ...wire }: WireTemplate): Template {
  return { uriTemplate, ...toDescription(wire) };
}

/** For unvalidated input: keeps only items with a URI and a name. */
export function toResources(found: unknown): Resource[] {
  if (!Array.isArray(found)) return [];
  return found
    .filter((each) => isRemoteObject(each) && typeof each["uri"] === "string" && typeof each["name"] === "string")
    .map((each) => toResource(each as WireResource));
}

function toDescription(wire: Omit<WireResource, "uri" | "size">): Description {
  const { name, title, description, mimeType, annotations, icons, _meta: meta } = wire;
  return {
    name,
    title,
    description,
    mimeType,
    ...(annotations && { annotations: annotations as NonNullable<Description["annotations"]> }),
    ...(icons && { icons: icons as NonNullable<Description["icons"]> }),
    ...(meta && isShallow(meta) && { meta }),
  };
}

/** Deeper values are dropped, because recursion over them could overflow the stack. */
const maxDepth = 64;

export function isShallow(value: unknown, left = maxDepth): boolean {
  if (typeof value !== "object" || value === null) return true;
  return left > 0 && Object.values(value).every((each) => isShallow(each, left - 1));
}

interface WireContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: unknown;
  readonly blob?: unknown;
  readonly _meta?: Loose;
}

export function toContent({ uri, mimeType, text, blob, _meta: meta }: WireContents): Content {
  const body: Body = typeof text === "string" ? { text } : { bytes: fromBase64(String(blob ?? "")) };
  return { uri, body, mimeType, ...(meta && isShallow(meta) && { meta }) };
}

function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch (cause) {
    throw new ResourceError("unexpected", "the server sent invalid base64", { cause });
  }
}

/** Members of a page other than its items. */
export function restOfPage(result: {
  readonly nextCursor?: unknown;
  readonly _meta?: unknown;
}): Omit<Page<unknown>, "items"> {
  const failures = isRemoteObject(result._meta) ? result._meta["pressmark/failures"] : undefined;
  return {
    ...(typeof result.nextCursor === "string" && { next: result.nextCursor }),
    ...(Array.isArray(failures) && { failures: failures.filter(isFailure) }),
  };
}

export function isFailure(value: unknown): value is MountFailure {
  return isRemoteObject(value) && typeof value["mount"] === "string" && typeof value["message"] === "string";
}

/** Cache hints of a response. Without hints nothing may be cached. */
export function toFreshness(result: unknown): Freshness {
  const { ttlMs, cacheScope } = isRemoteObject(result) ? result : {};
  return {
    ttlMs: typeof ttlMs === "number" && ttlMs > 0 ? Math.min(ttlMs, 86_400_000) : 0,
    scope: cacheScope === "public" ? "public" : "private",
  };
}

/** Undefined for an invalid skill. */
export function toSkill(wire: unknown): Skill | undefined {
  if (!isRemoteObject(wire) || typeof wire["uri"] !== "string") return undefined;
  const { uri, frontmatter, resources } = wire;
  if (!isRemoteObject(frontmatter) || typeof frontmatter["name"] !== "string" || !isShallow(frontmatter))
    return undefined;
  const frontMatter = { description: "", ...frontmatter, name: frontmatter["name"] };
  if (!Array.isArray(resources)) return { uri, frontMatter, files: "dynamic" };
  const files = resources.filter(isRemoteObject).map((file) => ({
    uri: String(file["uri"]),
    digest: String(file["digest"]),
    size: Number(file["size"]),
  }));
  return { uri, frontMatter, files };
}
