/** A small server without a source of its own: texts, templates, tools and prompts in one object. */
import { invalid, quote } from "../errors.ts";
import { mimeOfName } from "../lib/mime.ts";
import type { Call } from "../resources.ts";
import type { Entry, Source } from "../source.ts";
import { type ComputedValue, createMemory, type MemoryValue } from "../sources/memory.ts";
import { createBlockResolver, type DefinedAddress } from "./blocks.ts";
import { checkFunction, checkMembers, checkRecord, isRecord, kindOf, wrongKind } from "./check-definition.ts";
import { contentProblem, type DefinedBody, type DefinedContent, readDefined, toBody } from "./content.ts";
import { createOwnRelayed } from "./own-relayed.ts";
import type { DefinedPrompt } from "./prompt.ts";
import type { DefinedTemplate } from "./template.ts";
import type { DefinedTool } from "./tool.ts";

export type TextMetadata = Pick<
  Entry,
  "name" | "title" | "description" | "mimeType" | "annotations" | "icons" | "meta"
>;

export type ReadText = (call: Call) => DefinedContent | null | undefined | Promise<DefinedContent | null | undefined>;

/** The content at a path, with or without metadata. The MIME type comes from the name, unless it is given. */
export type DefinedText = string | Uint8Array | (DefinedBody & TextMetadata);

/** A function that makes the content anew for each read; undefined or null if it is missing at present. */
export type ComputedText = ReadText | ({ readonly read: ReadText } & TextMetadata);

export interface ResourceDefinitions {
  /** By path: "about.md", "stations/44.json". They are listed; their folders are directories. */
  readonly texts?: Readonly<Record<string, DefinedText | ComputedText>>;
  /** Not listed: clients see the templates and complete their variables. The first that matches an address reads it. */
  readonly templates?: readonly DefinedTemplate[];
  /** By name. For callers who may see everything of the mount. */
  readonly tools?: Readonly<Record<string, DefinedTool>>;
  /** By name. For callers who may see everything of the mount. */
  readonly prompts?: Readonly<Record<string, DefinedPrompt>>;
}

/** A source, and the functions that change it. */
export interface DefinedResources extends Source {
  /** Creates or replaces a text and notifies its subscribers. */
  set(path: string, text: DefinedText): void;
  /** Returns whether the text existed. */
  delete(path: string): boolean;
  /** Notifies subscribers of a computed text, or of an address of a template. Throws if it is neither. */
  changed(at: DefinedAddress): void;
  /** Rejects with the names of tools whose `input` cannot be served. `serve` and `createApp` call it at the start. */
  checkTools(): Promise<void>;
}

const definitionForm = "defineResources({ texts, templates, tools, prompts })";

/** Throws for a path, value, template or name that cannot be served. */
export function defineResources(definitions: ResourceDefinitions): DefinedResources {
  checkMembers(definitions, "defineResources", ["texts", "templates", "tools", "prompts"], definitionForm);
  const { texts = {}, templates = [], tools = {}, prompts = {} } = definitions;
  checkRecord(texts, '"texts"', '{ "about.md": "# About" }');
  checkTemplates(templates);
  const values = Object.entries(texts).map(([path, value]) => [path, toValue(path, value)] as const);
  const memory = createMemory(Object.fromEntries(values), { templates });
  const blocks = createBlockResolver(memory.source, memory.has, templates);
  const { relayed, checkTools } = createOwnRelayed(tools, prompts, blocks);
  const isRelaying = Object.keys({ ...tools, ...prompts }).length > 0;

  return {
    ...memory.source,
    ...(isRelaying && { relayed }),
    checkTools,
    set: (path, text) => memory.set(path, toStatic(path, text)),
    delete: memory.delete,
    changed: (at) => memory.changed(blocks.locate(at).path),
  };
}

function checkTemplates(templates: readonly DefinedTemplate[]): void {
  if (!Array.isArray(templates)) throw wrongKind('"templates"', templates, "a list: [template(…)]");
  for (const [at, each] of templates.entries()) {
    if (typeof each?.matches !== "function")
      throw invalid(`templates[${at}] is ${kindOf(each)}; make it with template("path/{name}", { read })`);
    if (templates.findIndex(({ template }) => template === each.template) < at)
      throw invalid(`the template ${quote(each.template)} is defined twice; remove one`);
  }
}

function toValue(path: string, value: DefinedText | ComputedText): MemoryValue | ComputedValue {
  if (typeof value === "function") return toValue(path, { read: value });
  if (!isRecord(value) || !("read" in value)) return toStatic(path, value as DefinedText);
  const { read, ...about } = value as Extract<ComputedText, { readonly read: ReadText }>;
  checkFunction(read, `"read" of the text ${quote(path)}`, "a function that returns the content");
  const mimeType = about.mimeType ?? mimeOfName(path);
  const what = `the function of ${quote(path)}`;
  return {
    ...about,
    ...(mimeType !== undefined && { mimeType }),
    read: (call) => readDefined({ what, path, mimeType }, call, () => read(call)),
  };
}

function toStatic(path: string, text: DefinedText): MemoryValue {
  const problem = contentProblem(text);
  if (problem !== undefined)
    throw invalid(
      `the text ${quote(path)} is ${problem}; write a text, bytes, { text }, { bytes } or { json }, or in "texts" a function`,
    );
  if (typeof text === "string" || text instanceof Uint8Array) return text;
  const { name, title, description, mimeType, annotations, icons, meta } = text;
  const type = mimeType ?? mimeOfName(path) ?? ("json" in text ? "application/json" : undefined);
  const about = { name, title, description, annotations, icons, meta };
  return { ...toBody(text, quote(path)), ...about, ...(type !== undefined && { mimeType: type }) };
}
